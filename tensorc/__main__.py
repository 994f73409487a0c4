"""`python -m tensorc`."""

from tensorc.cli.main import main

if __name__ == "__main__":
    main()
