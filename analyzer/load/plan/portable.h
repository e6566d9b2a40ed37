/* Functions of real numbers that give the same bits on every machine.
 *
 * A C library may round exp() and log() as it likes, and they do differ. These are made of +, -, * and / of doubles
 * alone, which IEEE 754 rounds in one way only; the module is compiled so that none are fused. They are good to about 1
 * part in 10^15, which the distributions do not notice. */
#pragma once

#include <glib.h>

double portable_exp(double x); /* |x| up to 700 */
double portable_log(double x); /* x > 0 */
double portable_sqrt(double x);
/* x > 0, to the power y. */
double portable_power(double x, double y);
/* The quantile p (0 < p < 1) of the normal distribution of mean 0 and deviation 1 (Wichura's AS 241). */
double portable_normal(double p);
