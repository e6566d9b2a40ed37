#include "analyzer/query/spark/entry_facts.h"

#include "common/base/clock.h"

gboolean entry_facts_load(EntryFacts *all, const Asked *asked, const AppEntry *entry, SimApp *sim, GError **error) {
    const gint64 now_ms = asked->now_ns / NS_PER_MS;
    *all = (EntryFacts){
        .unnamed = {.app = entry->key, .start_ms = -1, .end_ms = -1, .last_event_ms = -1},
        .texts = spark_records_new(),
        .plans = app_plans_load(asked->archive, entry->key, error),
    };
    if (all->plans == NULL) return FALSE;

    const SparkApp *app = entry->app != NULL ? entry->app : &all->unnamed;
    const FactsSource source = {asked->archive, app, all->plans, now_ms, sim};
    all->facts = app_facts_load(&source, all->texts, error);
    if (all->facts == NULL) return FALSE;
    all->facts->running = all->facts->running && app->log_complete != 1 && app_silent_ms(app, now_ms) < 0;
    return TRUE;
}

void entry_facts_clear(EntryFacts *all) {
    advise_facts_free(all->facts);
    app_plans_free(all->plans);
    spark_records_free(all->texts);
}
