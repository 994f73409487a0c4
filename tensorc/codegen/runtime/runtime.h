/* Everything a generated kernel may use, in dependency order. */
#ifndef TC_RUNTIME_H
#define TC_RUNTIME_H

#include "lanes.h"
#include "lanes_narrow.h"
#include "lanes_unsigned.h"
#include "reduce.h"
#include "scan.h"
#include "elementary_f32.h"
#include "elementary_more_f32.h"
#include "elementary_composed_f32.h"
#include "elementary_fast_f32.h"
#include "elementary_binary_f32.h"
#include "elementary_f64.h"
#include "elementary_erf_f64.h"
#include "elementary_more_f64.h"
#include "elementary_composed_f64.h"
#include "elementary_angles_f64.h"
#include "elementary_power_f64.h"

#endif
