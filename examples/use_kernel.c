/* Call softmax from C. Build the kernel, then this file, then run it:
 *
 *   tensorc compile examples/softmax.tdsl -o build/kernel.so
 *   cc -Ibuild examples/use_kernel.c build/kernel.so -Wl,-rpath,'$ORIGIN' -o build/use_kernel
 *   build/use_kernel
 *
 * With two file names it reads 3x4 floats from the first and writes the 3x4 results to the second.
 */
#include <stdio.h>
#include <stdlib.h>

#include "kernel.h"

enum { ROWS = 3, COLUMNS = 4 };

static int transfer(const char *path, const char *mode, float *values)
{
    FILE *file = fopen(path, mode);
    if (!file)
        return 0;
    size_t count = mode[0] == 'r' ? fread(values, sizeof *values, ROWS * COLUMNS, file)
                                  : fwrite(values, sizeof *values, ROWS * COLUMNS, file);
    return fclose(file) == 0 && count == ROWS * COLUMNS;
}

int main(int argc, char **argv)
{
    float x[ROWS * COLUMNS] = {0, 1, 2, 3, -1, -1, -1, -1, 100, 0, 0, 0};
    float out[ROWS * COLUMNS];

    if (argc == 3 && !transfer(argv[1], "rb", x)) {
        fprintf(stderr, "cannot read %s\n", argv[1]);
        return EXIT_FAILURE;
    }
    int32_t status = tdsl_softmax(x, out, ROWS, COLUMNS, 1);
    if (status != 0) {
        fprintf(stderr, "softmax failed with status %d\n", (int)status);
        return EXIT_FAILURE;
    }
    if (argc == 3 && !transfer(argv[2], "wb", out)) {
        fprintf(stderr, "cannot write %s\n", argv[2]);
        return EXIT_FAILURE;
    }
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            printf("%.7f%c", out[i * COLUMNS + j], j + 1 < COLUMNS ? ' ' : '\n');
    return EXIT_SUCCESS;
}
