/* Options that several commands share, for their tables. */
#pragma once

#define OPTION_PERIOD                                                                                                  \
    {"since", OPTION_TEXT, "TIME", "since", "from then on: 15m, 2h, 3d (ago), 2026-11-21T10:00:00Z, or ns since 1970", \
     NULL},                                                                                                            \
    {                                                                                                                  \
        "until", OPTION_TEXT, "TIME", "until", "before then", NULL                                                     \
    }

#define OPTION_HOST                                                                                                    \
    { "host", OPTION_TEXT, "HOST", "host", "only what ran on this host", NULL }

#define OPTION_ROLE                                                                                                    \
    { "role", OPTION_TEXT, "ROLE[,ROLE]", "role", "only these: client, namenode, datanode, journalnode, local", NULL }

#define OPTION_THE_END                                                                                                 \
    { NULL, OPTION_END, NULL, NULL, NULL, NULL }
