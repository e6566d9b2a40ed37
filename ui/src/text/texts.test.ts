// Every text that a reader sees goes through t or tx, and is in every language: read from the page's syntax trees.

import ts from 'typescript'
import { expect, it } from 'vitest'
import { languageOf } from './t.ts'
import chinese from './zh.json'

const SOURCES = import.meta.glob<string>(
  [
    '../**/*.{ts,tsx}',
    '!../**/*.test.ts',
    '!../{api,timeline}/**',
    '!../text/{t,command,units,times,visible}.ts',
    '!../parts/scene-svg.ts',
  ],
  {
    query: '?raw',
    import: 'default',
    eager: true,
  },
)

/** Where a text is shown or read out. */
const SHOWN_ATTRIBUTES = [
  'alt',
  'aria-label',
  'empty',
  'hint',
  'label',
  'none',
  'placeholder',
  'question',
  'title',
  'what',
]
const SHOWN_PROPERTIES = ['cell', 'does', 'head', 'label', 'sentence', 'text', 'title', 'why']
/** What is typed, not read. */
const TYPED = ['code', 'kbd', 'pre']
const CODE_ATTRIBUTES = ['class', 'd', 'for', 'href', 'id', 'key', 'kind', 'name', 'role', 'style', 'type']
/** Names, units, formats and what is to be typed: the same in all languages. */
const SAME_EVERYWHERE = new Set([
  '/a/b, *.gz',
  '100ms',
  '11px system-ui, "Noto Sans", "DejaVu Sans", sans-serif',
  '95 %',
  '< 4 KiB',
  'GC',
  'HDFS',
  'JSON',
  'PNG',
  'Plumbline',
  'SVG',
  'bytes/s',
  'cv',
  '{}: JSON',
  // Selectors, and what nobody sees.
  '(prefers-color-scheme: dark)',
  'dialog[open], input:not([type=checkbox]), select, textarea, [contenteditable]',
  'nobody waits for it any more',
])

const zh: Readonly<Record<string, string>> = chinese

const letters = (text: string): boolean => /[A-Za-z]{2}/.test(text)
/** Two words, or a piece of a sentence. */
const isPhrase = (text: string): boolean =>
  /[A-Za-z]{2}[,:;.]? [A-Za-z]{2}/.test(text) || /^[,;:.]? [a-z]{2}/.test(text)

interface Found {
  readonly keys: Map<string, string>
  readonly bad: string[]
}

const nameOf = (node: ts.Node, file: ts.SourceFile): string => node.getText(file).replaceAll("'", '')

function fixedText(node: ts.Node): string | undefined {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return node.text
  if (!ts.isTemplateExpression(node)) return undefined
  return node.head.text + node.templateSpans.map((span) => `{}${span.literal.text}`).join('')
}

const COMPARISONS = [
  ts.SyntaxKind.EqualsEqualsEqualsToken,
  ts.SyntaxKind.ExclamationEqualsEqualsToken,
  ts.SyntaxKind.InKeyword,
]

/** What is in the node, and whether that is shown: undefined says nothing in it is. */
function shownIn(node: ts.Node, parent: ts.Node, shown: boolean, file: ts.SourceFile): boolean | undefined {
  if (ts.isImportDeclaration(node) || ts.isTypeNode(node) || ts.isInterfaceDeclaration(node)) return undefined
  if (ts.isBinaryExpression(node) && COMPARISONS.includes(node.operatorToken.kind)) return undefined
  if (ts.isConditionalExpression(parent) && node === parent.condition) return false
  if (ts.isBinaryExpression(parent) && node === parent.left)
    return parent.operatorToken.kind === ts.SyntaxKind.AmpersandAmpersandToken ? false : shown
  if (ts.isJsxAttribute(node)) {
    const name = nameOf(node.name, file)
    return CODE_ATTRIBUTES.includes(name) ? undefined : SHOWN_ATTRIBUTES.includes(name)
  }
  if (ts.isPropertyAssignment(node)) {
    const name = nameOf(node.name, file)
    return name === 'className' ? undefined : SHOWN_PROPERTIES.includes(name)
  }
  if (ts.isJsxExpression(node) && !ts.isJsxAttribute(parent)) return true
  // {['mean', 'most'].map(...)}
  if (ts.isArrayLiteralExpression(node) && ts.isPropertyAccessExpression(parent)) return parent.name.text === 'map'
  if (ts.isJsxElement(node)) return TYPED.includes(node.openingElement.tagName.getText(file)) ? undefined : false
  if (ts.isCallExpression(node) || ts.isElementAccessExpression(node) || ts.isObjectLiteralExpression(node))
    return false
  return shown
}

const places = (text: string): string[] => [...text.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!).sort()

/** A call of t or tx: its key, and that it gives what the key's places want. */
function readCall(node: ts.CallExpression, file: ts.SourceFile, where: string, found: Found): void {
  const [key, values] = node.arguments
  if (key === undefined || !ts.isStringLiteral(key)) {
    found.bad.push(`${where}: the text must be a literal`)
    return
  }
  found.keys.set(key.text, where)
  const given =
    values !== undefined && ts.isObjectLiteralExpression(values)
      ? values.properties.map((property) => nameOf(property.name!, file)).sort()
      : []
  if (given.join() !== [...new Set(places(key.text))].join())
    found.bad.push(`${where}: “${key.text}” is given ${given.join(', ')}`)
}

/** Of the options of a choice: [['', 'all'], ['host', 'per host']]. */
function isLabel(node: ts.Node): boolean {
  const pair = node.parent
  if (!ts.isArrayLiteralExpression(pair) || !ts.isArrayLiteralExpression(pair.parent)) return false
  return pair.elements.length === 2 && pair.elements[1] === node && ts.isStringLiteral(pair.elements[0]!)
}

function readFile(name: string, content: string, found: Found): void {
  const file = ts.createSourceFile(name, content, ts.ScriptTarget.Latest, true)
  const visit = (node: ts.Node, parent: ts.Node, before: boolean): void => {
    const where = `${name}:${file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1}`
    if (ts.isCallExpression(node) && ['t', 'tx'].includes(node.expression.getText(file))) {
      readCall(node, file, where, found)
      if (node.arguments[1]) ts.forEachChild(node.arguments[1], (value) => visit(value, node, true))
      return
    }
    const shown = shownIn(node, parent, before, file)
    if (shown === undefined) {
      // In code there is no text, but around an element's code there may be.
      if (ts.isJsxElement(node)) node.openingElement.attributes.properties.forEach((one) => visit(one, node, false))
      return
    }
    const text = ts.isJsxText(node) ? node.text : fixedText(node)
    const isShown = ts.isJsxText(node) || shown || isLabel(node)
    if (text !== undefined && letters(text) && (isShown || isPhrase(text)) && !SAME_EVERYWHERE.has(text.trim()))
      found.bad.push(`${where}: “${text.trim()}”`)
    ts.forEachChild(node, (child) => {
      if (!ts.isPropertyAssignment(node) || child !== node.name) visit(child, node, shown)
    })
  }
  ts.forEachChild(file, (node) => visit(node, file, false))
}

const found: Found = { keys: new Map(), bad: [] }
for (const [name, content] of Object.entries(SOURCES)) readFile(name, content, found)

it('shows no text but through t and tx', () => {
  expect(found.keys.size).toBeGreaterThan(500)
  expect(found.bad).toEqual([])
})

it('has every text in Chinese, and none that is not used', () => {
  expect([...found.keys.keys()].filter((key) => zh[key] === undefined)).toEqual([])
  expect(Object.keys(zh).filter((key) => !found.keys.has(key))).toEqual([])
})

it('keeps what stands at the places of a text', () => {
  const different = Object.entries(zh).filter(([key, text]) => places(key).join() !== places(text).join())
  expect(different).toEqual([])
})

it('is really Chinese', () => {
  expect(Object.entries(zh).filter(([, text]) => !/[\p{Script=Han}，。：；（）]/u.test(text))).toEqual([])
})

it('takes the language that was chosen, else the first of the browser that there is', () => {
  expect(languageOf(null, ['fr-FR', 'zh-CN', 'en'])).toBe('zh')
  expect(languageOf(null, ['en-US', 'zh'])).toBe('en')
  expect(languageOf('en', ['zh-CN'])).toBe('en')
  expect(languageOf('xx', [])).toBe('en')
})
