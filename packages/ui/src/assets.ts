import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createEncoder, type Encoding } from './encoding.ts'

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** The files that pages load, by the name that pages call them. */
const FILES = {
  'postrider.css': new URL('../assets/postrider.css', import.meta.url),
  'docs.css': new URL('../assets/docs.css', import.meta.url),
  'icons.svg': new URL('../assets/icons.svg', import.meta.url),
  'mark.svg': new URL('../assets/mark.svg', import.meta.url),
  'wordmark.svg': new URL('../assets/wordmark.svg', import.meta.url),
  'page.js': new URL('../assets/page.js', import.meta.url),
  'suggest.js': new URL('../assets/suggest.js', import.meta.url),
  'editor.js': new URL('../assets/editor.js', import.meta.url),
  'docs.js': new URL('../assets/docs.js', import.meta.url),
  'palette.js': new URL('../assets/palette.js', import.meta.url),
  'passkey.js': new URL('../assets/passkey.js', import.meta.url),
  'htmx.js': new URL(import.meta.resolve('htmx.org/dist/htmx.min.js')),
} as const

export type AssetName = keyof typeof FILES

export interface Asset {
  readonly type: string
  readonly plain: Buffer
  /** Compresses the file at the first call, in another thread: most processes that load it never send it. */
  readonly encoded: (encoding: Encoding) => Promise<Buffer>
}

export interface Assets {
  /** Returns the URL of a file. It changes with the file's content, so browsers may keep the file for a year. */
  url(name: AssetName): string
  /** Returns the file of this URL's last part; undefined for any other text. */
  find(part: string): Asset | undefined
}

/** Reads all files once. `prefix` is the path below which they are served. */
export async function loadAssets(prefix: string): Promise<Assets> {
  const urls = new Map<string, string>()
  const byPart = new Map<string, Asset>()
  const load = async ([name, url]: [string, URL]): Promise<void> => {
    const plain = await readFile(fileURLToPath(url))
    const hash = createHash('sha256').update(plain).digest('base64url').slice(0, 10)
    const extension = extname(name)
    const part = `${name.slice(0, -extension.length)}.${hash}${extension}`
    byPart.set(part, { type: TYPES[extension] as string, plain, encoded: createEncoder(plain) })
    urls.set(name, `${prefix}/${part}`)
  }
  await Promise.all(Object.entries(FILES).map(load))
  return {
    url: (name) => urls.get(name) as string,
    find: (part) => byPart.get(part),
  }
}
