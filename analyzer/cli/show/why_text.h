/* Pieces of text that all answers of `plumb why` have in common. */
#pragma once

#include "analyzer/cli/show/show.h"

/* "the disk of DataNode d2": what was waited for, told from a suspect or a share. A new string. */
char *why_whom(const Style *style, const json_t *suspect);
/* "DataNode d2, whose processor is slow": of a host that is waited for in several ways. A new string. */
char *why_whose(const Style *style, const json_t *suspect);
/* "22 % processor, 15 % network": the parts of all_ns that are its resources'. A new string. */
char *why_split(const Style *style, const json_t *resources_ns, double all_ns);
/* ", 150 times what it takes on other hosts", "" where nothing is known to compare with. A new string. */
char *why_times(const json_t *suspect);
/* "its disk was 7.0 times slower than predicted from ... on", "" where its host was as usual. A new string. */
char *why_spell(const Style *style, const json_t *suspect);
/* "d2 did not answer: nothing is heard of it from ... to ...". A new string. */
char *why_silent(const Style *style, const json_t *silent);
/* Lines that say what is normal for the suspect's function, and whether its calls were slower. */
void why_normals(const Style *style, const json_t *suspect, GString *out);
/* The calls down to the longest one. */
void why_path(const Style *style, const json_t *path, GString *out);
