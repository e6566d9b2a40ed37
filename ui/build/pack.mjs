// node pack.mjs FOLDER: gzips the files of FOLDER/files into FOLDER/packed, and lists them in FOLDER/page.gresource.xml.
// What is to be loaded before the first view, and all of it, has a limit: a page grows unseen.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { constants, gzipSync } from 'node:zlib'

const FIRST_VIEW_MAX_BYTES = 90_000
const ALL_MAX_BYTES = 200_000

const folder = process.argv[2]
const names = readdirSync(join(folder, 'files'), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name).slice(join(folder, 'files').length + 1))
  .sort()

rmSync(join(folder, 'packed'), { recursive: true, force: true })
const packed = names.map((name) => {
  const bytes = gzipSync(readFileSync(join(folder, 'files', name)), { level: constants.Z_BEST_COMPRESSION })
  mkdirSync(dirname(join(folder, 'packed', name)), { recursive: true })
  writeFileSync(join(folder, 'packed', name), bytes)
  return { name, bytes: bytes.length }
})

const html = readFileSync(join(folder, 'files', 'index.html'), 'utf8')
const sum = (files) => files.reduce((bytes, file) => bytes + file.bytes, 0)
const first = sum(packed.filter((file) => file.name === 'index.html' || html.includes(file.name)))
const all = sum(packed)
console.log(`gzipped: ${first} bytes before the first view, ${all} in all`)
if (first > FIRST_VIEW_MAX_BYTES || all > ALL_MAX_BYTES)
  throw new Error(
    `the page is too large: at most ${FIRST_VIEW_MAX_BYTES} bytes before the first view, ${ALL_MAX_BYTES} in all`,
  )

const entries = packed.map((file) => `    <file>${file.name}</file>`)
writeFileSync(
  join(folder, 'page.gresource.xml'),
  `<gresources>\n  <gresource prefix="/io/plumbline/page">\n${entries.join('\n')}\n  </gresource>\n</gresources>\n`,
)
