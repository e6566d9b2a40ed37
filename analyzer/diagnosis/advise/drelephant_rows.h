/* What the two files of Dr. Elephant's table share; private to this folder. */
#pragma once

#include "analyzer/diagnosis/advise/drelephant.h"

/* How far up the limits (LOW, MODERATE, SEVERE, CRITICAL; NAN: never) a value reaches. */
Severity elephant_reached(double value, const double limits[4]);
const double *elephant_limits(const Elephant *elephant, ElephantList list);
/* Takes 'value'. The row is valid until the next one. */
ElephantRow *elephant_row(Elephant *elephant, ElephantGroup group, const char *rule, Severity severity, char *value);
void elephant_unknown(Elephant *elephant, ElephantGroup group, const char *rule, const char *why);

/* Rules that the tool's later versions had, with what they recommend as notes. */
void elephant_judge_later(const AdviseFacts *facts, Elephant *elephant);
