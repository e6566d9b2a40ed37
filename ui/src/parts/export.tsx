// Every chart and table can be taken along: a table as CSV, what is drawn as SVG or PNG.

import type { ComponentChildren, VNode } from 'preact'
import { useRef } from 'preact/hooks'
import { refine, route, values } from '../app/address.ts'
import { t } from '../text/t.ts'
import { DataTable } from './chart-data.tsx'
import { dataCsv, tableCsv, type ChartData } from './csv.ts'
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

/** The mark of UTF-8: without it spreadsheets take names for Latin-1. */
const csvFile = (text: string): Blob => new Blob(['\ufeff', text], { type: 'text/csv;charset=utf-8' })

type Kind = 'CSV' | 'SVG' | 'PNG'

function saveAs(kind: Kind, element: HTMLElement, name: string, data: (() => ChartData) | undefined): void {
  const table = element.querySelector('table')
  if (kind === 'PNG') savePng(element, name)
  else if (kind === 'SVG') save(new Blob([sceneSvg(sceneOf(element))], { type: 'image/svg+xml' }), name)
  else if (data !== undefined) save(csvFile(dataCsv(data())), name)
  else if (table) save(csvFile(tableCsv(table)), name)
}

/** Below a chart: the button for its table, which the address remembers. */
function TableButton({ name }: { name: string }): VNode {
  const open = values('table')
  const shown = open.includes(name)
  return (
    <button
      type="button"
      class="small quiet"
      aria-expanded={shown}
      onClick={() => refine({ table: shown ? open.filter((one) => one !== name) : [...open, name] })}
    >
      {t('as a table')}
    </button>
  )
}

/** What is inside can be exported; name: of the file. data: of a chart, what it draws. */
export function Exported(props: {
  name: string
  table?: boolean
  data?: () => ChartData
  children: ComponentChildren
}): VNode {
  const { name, data } = props
  const inside = useRef<HTMLDivElement>(null)
  const drawn: readonly Kind[] = data === undefined ? ['SVG', 'PNG'] : ['CSV', 'SVG', 'PNG']
  const kinds: readonly Kind[] = props.table === true ? ['CSV', 'SVG'] : drawn
  const file = `plumbline-${route.value.view}-${name}`.replaceAll(/[^\p{L}\p{N}_-]+/gu, '-').toLowerCase()
  return (
    <div class="exported">
      <div ref={inside}>{props.children}</div>
      <div class="export" role="group" aria-label={t('Export {name}', { name })}>
        {data !== undefined && <TableButton name={name} />}
        {kinds.map((kind) => (
          <button
            key={kind}
            type="button"
            class="small quiet"
            title={t('Save as {kind}', { kind })}
            onClick={() => inside.current && saveAs(kind, inside.current, `${file}.${kind.toLowerCase()}`, data)}
          >
            {kind}
          </button>
        ))}
      </div>
      {data !== undefined && values('table').includes(name) && <DataTable name={name} data={data()} />}
    </div>
  )
}
