/* Whole numbers as text: printf's way costs more than most of what it stands in. */
#pragma once

#include <glib.h>
#include <string.h>

/* Of 64 bits, with a sign. */
#define DIGITS_MOST 20

/* Writes the digits so that they end before 'end', and returns where they begin. */
static inline char *digits_before(char *end, guint64 number) {
    static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                                "25262728293031323334353637383940414243444546474849"
                                "50515253545556575859606162636465666768697071727374"
                                "75767778798081828384858687888990919293949596979899";
    for (; number >= 100; number /= 100) memcpy(end -= 2, pairs + 2 * (number % 100), 2);
    if (number >= 10) return memcpy(end - 2, pairs + 2 * number, 2);
    *--end = (char)('0' + number);
    return end;
}

/* The same, with a sign. */
static inline char *digits_before_signed(char *end, gint64 number) {
    char *at = digits_before(end, number < 0 ? -(guint64)number : (guint64)number);
    if (number < 0) *--at = '-';
    return at;
}
