/* What is well: rules that had something to judge, and found nothing. */
#pragma once

#include "analyzer/diagnosis/advise/finding.h"

/* Fills advice->well, once all rules have judged, and while small findings are there. */
void advise_well(const AdviseFacts *facts, Advice *advice);
