// The method and its thresholds, as fields; what they find, in numbers.

import type { VNode } from 'preact'
import type { StragglersAnswer } from '../../api/spark.ts'
import { go, value } from '../../app/address.ts'
import { Select } from '../../parts/bits.tsx'
import { t, tx } from '../../text/t.ts'
import { count } from '../../text/units.ts'
import { visible } from '../../text/visible.ts'
import { METHODS, isDefault, methodOf, thresholdsOf, withoutThresholds, type Threshold } from './method.ts'

const MEANINGS: Readonly<Record<string, string>> = {
  lambda_p: t('so many times its peers'),
  lambda_q: t('above this quantile of the application'),
  lambda_t: t('times: above this share of the task'),
  lambda_e: t('edges: below this share of the load'),
  lambda_w: t('waits, ledgers: at least this share of the time lost'),
  lambda_ca: t('least correlation'),
  lambda_cq: t('above this quantile of the stage'),
}

function ThresholdField({ of }: { of: Threshold }): VNode {
  const meaning = MEANINGS[of.name] ?? ''
  return (
    <label title={meaning}>
      <span class="label">
        {of.sign}
        <span class="unseen"> {meaning}</span>
      </span>
      <input
        type="text"
        inputMode="decimal"
        spellcheck={false}
        autocomplete="off"
        size={5}
        value={value(of.name) ?? ''}
        placeholder={of.usual}
        onChange={(event) => go({ [of.name]: event.currentTarget.value.trim().replace(',', '.') })}
      />
    </label>
  )
}

export function MethodFields(): VNode {
  const method = methodOf()
  return (
    <div class="tools method" role="group" aria-label={t('How causes are found')}>
      <Select
        label={t('causes by')}
        value={method}
        options={METHODS.map((one) => [one, one] as const)}
        choose={(one) => go({ ...withoutThresholds(), method: one === METHODS[0] ? undefined : one })}
      />
      {thresholdsOf(method).map((one) => (
        <ThresholdField key={one.name} of={one} />
      ))}
      {!isDefault() && (
        <button type="button" onClick={() => go({ ...withoutThresholds(), method: undefined })}>
          {t('as usual')}
        </button>
      )}
    </div>
  )
}

/** "By pcc: shuffle_read_bytes 1, jvm_gc_time 1; 7 without a cause." */
export function Found({ answer }: { answer: StragglersAnswer }): VNode {
  const parts = answer.causes_total.map((one) => `${visible(one.feature)} ${count(one.stragglers)}`)
  return (
    <p class="found">
      {tx('By {method}: {causes}; {unexplained} of {stragglers} slow tasks have no cause.', {
        method: <b>{answer.options.method}</b>,
        causes: parts.length === 0 ? t('nothing was found') : parts.join(', '),
        unexplained: count(answer.unexplained),
        stragglers: count(answer.stragglers_total),
      })}
      {answer.more === true &&
        ` ${t('Below are the {stragglers} that lost most time.', { stragglers: count(answer.stragglers.length) })}`}
    </p>
  )
}
