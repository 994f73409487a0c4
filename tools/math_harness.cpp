/* Calls the elementary functions on ranges of bit patterns or on arguments from standard input.
 *
 *     harness range NAME FIRST LAST STEP   every STEP-th f32 pattern from FIRST to before LAST
 *     harness points NAME                  f32 arguments from standard input
 *     harness values NAME DTYPE            f32 or f64 arguments in, results to standard output
 *     harness wide NAME                    the same for f32, sixteen lanes a call
 *     harness pairs NAME                   pairs of f32 arguments from standard input
 *
 * Arguments of a function of two stand next to each other. `range`, `points` and `pairs` compare with the C
 * library's double function and print the largest error in ulp, the argument that has it, the number of wrong
 * values (class, sign or special case), and one of them; of a pair, its number in the input.
 */
#include "elementary_angles_f64.h"
#include "elementary_binary_f32.h"
#include "elementary_composed_f32.h"
#include "elementary_composed_f64.h"
#include "elementary_erf_f64.h"
#include "elementary_f32.h"
#include "elementary_fast_f32.h"
#include "elementary_f64.h"
#include "elementary_more_f32.h"
#include "elementary_more_f64.h"
#include "elementary_power_f64.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

/* The lanes declare these for themselves, without <cmath>'s exception specification. */
#define fmod tc_lanes_fmod
#define fmodf tc_lanes_fmodf
#include "lanes.h"
#undef fmod
#undef fmodf
extern "C" double tc_lanes_fmod(double x, double y) { return std::fmod(x, y); }
extern "C" float tc_lanes_fmodf(float x, float y) { return std::fmod(x, y); }

namespace {

struct Function {
    const char* name;
    void (*f32)(const float*, float*);
    void (*wide)(const float*, float*);
    void (*f64)(const double*, double*);
    double (*reference)(double);
};

template <tc_f32 (*function)(tc_f32)>
void on_floats(const float* x, float* y) {
    tc_f32 lanes;
    std::memcpy(&lanes, x, sizeof lanes);
    lanes = function(lanes);
    std::memcpy(y, &lanes, sizeof lanes);
}

template <tc_f32w (*function)(tc_f32w)>
void on_wide_floats(const float* x, float* y) {
    tc_f32w lanes;
    std::memcpy(&lanes, x, sizeof lanes);
    lanes = function(lanes);
    std::memcpy(y, &lanes, sizeof lanes);
}

/* By name: some functions have a form of their own for sixteen lanes. */
#define WIDE(name, function) \
    tc_f32w name##_wide(tc_f32w x) { return function(x); }
WIDE(exp, tcf_exp)
WIDE(exp2, tcf_exp2)
WIDE(expm1, tcf_expm1)
WIDE(log, tcf_log)
WIDE(log1p, tcf_log1p)
WIDE(sin, tcf_sin<0>)
WIDE(cos, tcf_sin<1>)
WIDE(tanh, tcf_tanh)
WIDE(erf, tcf_erf)
WIDE(sigmoid, tcf_sigmoid)

template <tc_f64 (*function)(tc_f64)>
void on_doubles(const double* x, double* y) {
    tc_f64 lanes;
    std::memcpy(&lanes, x, sizeof lanes);
    lanes = function(lanes);
    std::memcpy(y, &lanes, sizeof lanes);
}

double gelu(double x) { return std::isinf(x) ? (x > 0 ? x : -0.0) : x * std::erfc(x * -0x1.6a09e667f3bcdp-1) / 2; }
double silu(double x) {
    if (std::isinf(x)) return x > 0 ? x : -0.0;
    return x < 0 ? x * std::exp(x) / (1 + std::exp(x)) : x / (1 + std::exp(-x));
}
double softplus(double x) { return (x > 0 ? x : 0) + std::log1p(std::exp(x > 0 ? -x : x)); }
double logaddexp(double x, double y) {
    long double a = x, b = y;
    return x == y ? x + 0x1.62e42fefa39efp-1 : (double)(fmaxl(a, b) + log1pl(expl(-fabsl(a - b))));
}
double sigmoid(double x) { return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x)); }

#define FUNCTION(name, reference)                                                                               \
    {#name, on_floats<tc_##name##_f32>, on_wide_floats<name##_wide>, on_doubles<tc_##name##_f64>, reference}
#define LIBRARY(name) FUNCTION(name, [](double x) { return std::name(x); })

/* Those whose sixteen lanes have the name of the eight. */
#define MORE(name, reference)                                                                                   \
    {#name, on_floats<tc_##name##_f32>, on_wide_floats<tc_##name##_f32w>, on_doubles<tc_##name##_f64>, reference}
#define MORE_LIBRARY(name) MORE(name, [](double x) { return std::name(x); })

/* Forms for math=fast, which f64 has none of. */
#define FAST(name, reference)                                                                                   \
    {"fast_" #name, on_floats<tc_fast_##name##_f32>, on_wide_floats<tc_fast_##name##_f32w>, nullptr, reference}
#define FAST_LIBRARY(name) FAST(name, [](double x) { return std::name(x); })

/* IEEE operations of eight lanes, which sixteen do on their halves. */
#define LANES(name, reference) {#name, on_floats<tc_##name##_f32>, nullptr, nullptr, reference}

const Function functions[] = {
    LIBRARY(exp), LIBRARY(exp2), LIBRARY(expm1), LIBRARY(log),  LIBRARY(log1p),
    LIBRARY(sin), LIBRARY(cos),  LIBRARY(tanh),  LIBRARY(erf), FUNCTION(sigmoid, sigmoid),
    MORE_LIBRARY(log2), MORE_LIBRARY(log10), MORE_LIBRARY(cbrt), MORE_LIBRARY(tan), MORE_LIBRARY(asin),
    MORE_LIBRARY(acos), MORE_LIBRARY(atan), MORE_LIBRARY(sinh), MORE_LIBRARY(cosh), MORE_LIBRARY(asinh),
    MORE_LIBRARY(acosh), MORE_LIBRARY(atanh), MORE_LIBRARY(erfc),
    MORE(gelu, gelu), MORE(silu, silu), MORE(softplus, softplus),
    LANES(sqrt, [](double x) { return std::sqrt(x); }), LANES(rsqrt, [](double x) { return 1 / std::sqrt(x); }),
    LANES(reciprocal, [](double x) { return 1 / x; }), LANES(square, [](double x) { return x * x; }),
    LANES(abs, [](double x) { return std::fabs(x); }), LANES(negative, [](double x) { return -x; }),
    LANES(sign, [](double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : x + 0.0; }),
    LANES(relu, [](double x) { return x <= 0 ? 0.0 : x; }), LANES(floor, [](double x) { return std::floor(x); }),
    LANES(ceil, [](double x) { return std::ceil(x); }), LANES(trunc, [](double x) { return std::trunc(x); }),
    LANES(round, [](double x) { return std::nearbyint(x); }),
    FAST_LIBRARY(sin), FAST_LIBRARY(cos), FAST_LIBRARY(tan), FAST(sigmoid, sigmoid), FAST(silu, silu),
};

struct BinaryFunction {
    const char* name;
    void (*f32)(const float*, float*);
    void (*wide)(const float*, float*);
    void (*f64)(const double*, double*);
    double (*reference)(double, double);
    double floor;  /* below it in magnitude, errors count in its ulp, and no sign is wrong */
};

/* `count` lanes: pairs in, results out. */
template <typename T, typename V, V (*function)(V, V)>
void on_pairs(const T* pairs, T* y) {
    constexpr size_t count = sizeof(V) / sizeof(T);
    T operands[2][count];
    for (size_t i = 0; i < count; i++) operands[0][i] = pairs[2 * i], operands[1][i] = pairs[2 * i + 1];
    V lanes[2];
    std::memcpy(lanes, operands, sizeof lanes);
    lanes[0] = function(lanes[0], lanes[1]);
    std::memcpy(y, lanes, sizeof lanes[0]);
}

#define BINARY(name, reference, floor)                                                                                 \
    {#name, on_pairs<float, tc_f32, tc_##name##_f32>, on_pairs<float, tc_f32w, tc_##name##_f32w>,               \
     on_pairs<double, tc_f64, tc_##name##_f64>, reference, floor}

const BinaryFunction binary_functions[] = {
    BINARY(atan2, std::atan2, 0),
    BINARY(hypot, std::hypot, 0),
    BINARY(power, std::pow, 0),
    BINARY(logaddexp, logaddexp, 0x1p-8),
};

template <typename T, size_t count>
const T* find_in(const T (&table)[count], const char* name) {
    for (const T& f : table) {
        if (std::strcmp(f.name, name) == 0) return &f;
    }
    return nullptr;
}

const Function& find(const char* name) {
    if (const Function* f = find_in(functions, name)) return *f;
    std::fprintf(stderr, "no function %s\n", name);
    std::exit(2);
}

/* 1 / distance of neighbouring floats around a number below 2^128, by its exponent field: an exact power of
 * two, and the inner loop of the exhaustive check. */
double per_spacing(double value) {
    tc_u64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    tc_u64_t field = (bits >> 52) & 2047;
    bits = (2046 - ((field < 897 ? 897 : field) - 23)) << 52;
    std::memcpy(&value, &bits, sizeof bits);
    return value;
}

constexpr double overflow = 0x1.ffffffp127;

struct Report {
    double worst = 0;
    float worst_at = 0;
    unsigned long wrong = 0;
    float wrong_at = 0;

    void add(float x, float y, double exact, double floor = 0) {
        bool small = std::fabs(exact) < floor && std::fabs(y) < 2 * floor;
        if (small || (std::isnan(exact) ? std::isnan(y) : same_class(y, exact))) {
            if (!std::isfinite(y)) return;
            double error = std::fabs(y - exact) * per_spacing(small ? floor : exact);
            if (error > worst) worst = error, worst_at = x;
        } else {
            wrong++, wrong_at = x;
        }
    }

    static bool same_class(float y, double exact) {
        if (std::isnan(y) || std::signbit(y) != std::signbit(exact)) return false;
        if (exact == 0) return y == 0;
        return std::isinf(y) == (std::fabs(exact) >= overflow);
    }
};

void print(const Report& report) {
    tc_u32_t at[2];
    std::memcpy(&at[0], &report.worst_at, 4);
    std::memcpy(&at[1], &report.wrong_at, 4);
    std::printf("%.17g %08x %lu %08x\n", report.worst, at[0], report.wrong, at[1]);
}

void compare(const Function& f, const float* x, Report& report) {
    float y[8];
    f.f32(x, y);
    for (int i = 0; i < 8; i++) report.add(x[i], y[i], f.reference(x[i]));
}

template <typename T>
std::vector<T> read_all() {
    std::vector<T> values;
    T chunk[4096];
    while (size_t count = std::fread(chunk, sizeof(T), 4096, stdin)) {
        values.insert(values.end(), chunk, chunk + count);
    }
    return values;
}

void check_range(const Function& f, unsigned long first, unsigned long last, unsigned long step) {
    Report report;
    for (unsigned long bits = first; bits < last; bits += 8 * step) {
        float x[8];
        for (unsigned long i = 0; i < 8; i++) {
            unsigned long pattern = bits + i * step < last ? bits + i * step : bits;
            tc_u32_t word = (tc_u32_t)pattern;
            std::memcpy(&x[i], &word, 4);
        }
        compare(f, x, report);
    }
    print(report);
}

void check_points(const Function& f) {
    std::vector<float> x = read_all<float>();
    x.resize((x.size() + 7) / 8 * 8, 1.0f);
    Report report;
    for (size_t i = 0; i < x.size(); i += 8) compare(f, &x[i], report);
    print(report);
}

/* Reports the number of a pair in place of an argument. */
void check_pairs(const BinaryFunction& f) {
    std::vector<float> x = read_all<float>();
    x.resize((x.size() + 15) / 16 * 16, 1.0f);
    Report report;
    for (size_t i = 0; i < x.size(); i += 16) {
        float y[8];
        f.f32(&x[i], y);
        for (size_t k = 0; k < 8; k++) {
            float number;
            tc_u32_t bits = (tc_u32_t)(i / 2 + k);
            std::memcpy(&number, &bits, 4);
            report.add(number, y[k], f.reference(x[i + 2 * k], x[i + 2 * k + 1]), f.floor);
        }
    }
    print(report);
}

template <typename T>
void print_pair_values(void (*function)(const T*, T*), size_t lanes) {
    std::vector<T> x = read_all<T>(), y;
    size_t count = x.size() / 2;
    x.resize((count + lanes - 1) / lanes * lanes * 2, T(1));
    y.resize(x.size() / 2);
    for (size_t i = 0; i < y.size(); i += lanes) function(&x[2 * i], &y[i]);
    std::fwrite(y.data(), sizeof(T), count, stdout);
}

template <typename T>
void print_values(void (*function)(const T*, T*), size_t lanes) {
    std::vector<T> x = read_all<T>();
    size_t count = x.size();
    x.resize((count + lanes - 1) / lanes * lanes, T(1));
    for (size_t i = 0; i < x.size(); i += lanes) function(&x[i], &x[i]);
    std::fwrite(x.data(), sizeof(T), count, stdout);
}

}  // namespace

int main(int count, char** arguments) {
    const BinaryFunction* binary = count > 2 ? find_in(binary_functions, arguments[2]) : nullptr;
    if (binary && count == 3 && std::strcmp(arguments[1], "pairs") == 0) {
        check_pairs(*binary);
    } else if (binary && count == 4 && std::strcmp(arguments[1], "values") == 0) {
        if (std::strcmp(arguments[3], "f32") == 0) print_pair_values<float>(binary->f32, 8);
        else print_pair_values<double>(binary->f64, 8);
    } else if (binary && count == 3 && std::strcmp(arguments[1], "wide") == 0) {
        print_pair_values<float>(binary->wide, 16);
    } else if (count == 6 && std::strcmp(arguments[1], "range") == 0) {
        check_range(find(arguments[2]), std::strtoul(arguments[3], nullptr, 0),
                    std::strtoul(arguments[4], nullptr, 0), std::strtoul(arguments[5], nullptr, 0));
    } else if (count == 3 && std::strcmp(arguments[1], "points") == 0) {
        check_points(find(arguments[2]));
    } else if (count == 4 && std::strcmp(arguments[1], "values") == 0) {
        const Function& f = find(arguments[2]);
        if (std::strcmp(arguments[3], "f32") == 0) print_values<float>(f.f32, 8);
        else print_values<double>(f.f64, 8);
    } else if (count == 3 && std::strcmp(arguments[1], "wide") == 0) {
        print_values<float>(find(arguments[2]).wide, 16);
    } else {
        std::fprintf(stderr, "usage: harness range NAME FIRST LAST STEP | points NAME | values NAME DTYPE |"
                             " wide NAME | pairs NAME\n");
        return 2;
    }
}
