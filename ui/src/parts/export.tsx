// Every chart and table can be taken along: a table as CSV, what is drawn as SVG or PNG.

import type { ComponentChildren, VNode } from 'preact'
import { useRef } from 'preact/hooks'
import { route } from '../app/address.ts'
import { t } from '../text/t.ts'
import { tableCsv } from './csv.ts'
import { paintScene, sceneOf } from './scene.ts'
import { sceneSvg } from './scene-svg.ts'

const PNG_SCALE = 2

export function save(content: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(content)
  link.download = name
  link.click()
  URL.revokeObjectURL(link.href)
}

function savePng(element: HTMLElement, name: string): void {
  const scene = sceneOf(element)
  const canvas = document.createElement('canvas')
  canvas.width = Math.ceil(scene.width * PNG_SCALE)
  canvas.height = Math.ceil(scene.height * PNG_SCALE)
  const context = canvas.getContext('2d')
  if (context === null) return
  context.scale(PNG_SCALE, PNG_SCALE)
  paintScene(context, scene)
  canvas.toBlob((blob) => blob && save(blob, name))
}

const KINDS = {
  CSV: (element: HTMLElement, name: string) => {
    const table = element.querySelector('table')
    // The mark of UTF-8: without it spreadsheets take names for Latin-1.
    if (table) save(new Blob(['\ufeff', tableCsv(table)], { type: 'text/csv;charset=utf-8' }), name)
  },
  SVG: (element: HTMLElement, name: string) =>
    save(new Blob([sceneSvg(sceneOf(element))], { type: 'image/svg+xml' }), name),
  PNG: savePng,
} as const

/** What is inside can be exported; name: of the file. */
export function Exported(props: { name: string; table?: boolean; children: ComponentChildren }): VNode {
  const inside = useRef<HTMLDivElement>(null)
  const kinds: readonly (keyof typeof KINDS)[] = props.table === true ? ['CSV', 'SVG'] : ['SVG', 'PNG']
  const file = `plumbline-${route.value.view}-${props.name}`.replaceAll(/[^\p{L}\p{N}_-]+/gu, '-').toLowerCase()
  return (
    <div class="exported">
      <div ref={inside}>{props.children}</div>
      <div class="export" role="group" aria-label={t('Export {name}', { name: props.name })}>
        {kinds.map((kind) => (
          <button
            key={kind}
            type="button"
            class="small quiet"
            title={t('Save as {kind}', { kind })}
            onClick={() => inside.current && KINDS[kind](inside.current, `${file}.${kind.toLowerCase()}`)}
          >
            {kind}
          </button>
        ))}
      </div>
    </div>
  )
}
