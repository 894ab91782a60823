import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { lexer, type Token, type Tokens } from 'marked'
import { convert, type Markdown, plainText, type Resolve } from './markdown.ts'

const DOCS = new URL('../../../../docs/', import.meta.url)
/** The sections of docs/README.md that are for readers of a running service. */
const SECTIONS = ['For those who send', 'For those who operate'] as const
/** Addresses of an installation with the usual port. */
const USUAL_URLS = ['http://127.0.0.1:8080', 'http://localhost:8080']

export interface Guide {
  /** The last part of its path: "dynamic-templates". */
  readonly name: string
  readonly title: string
  /** From the index. */
  readonly subject: string
  readonly section: (typeof SECTIONS)[number]
  /** Markdown, with the URL of this installation. */
  readonly text: string
}

/** Reads the guides that the index of docs/README.md lists, in its order. Those that the installation lacks are left out. */
export async function readGuides(publicUrl: string): Promise<readonly Guide[]> {
  const index = await readFile(new URL('README.md', DOCS), 'utf8').catch(() => '')
  const guides = await Promise.all(rowsOf(index).map((row) => readGuide(row, publicUrl)))
  return guides.filter((guide) => guide !== undefined)
}

interface IndexRow {
  readonly file: string
  readonly subject: string
  readonly section: Guide['section']
}

function rowsOf(index: string): readonly IndexRow[] {
  const rows: IndexRow[] = []
  let section: Guide['section'] | undefined
  for (const token of lexer(index)) {
    if (token.type === 'heading') section = SECTIONS.find((name) => name === (token as Tokens.Heading).text)
    if (token.type !== 'table' || section === undefined) continue
    for (const [page, subject] of (token as Tokens.Table).rows) {
      const link = page?.tokens.find(({ type }) => type === 'link') as Tokens.Link | undefined
      if (link && subject) rows.push({ file: link.href, subject: plainText(subject.tokens), section })
    }
  }
  return rows
}

async function readGuide({ file, subject, section }: IndexRow, publicUrl: string): Promise<Guide | undefined> {
  const text = await readFile(new URL(file, DOCS), 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  const own = USUAL_URLS.reduce((all, url) => all.replaceAll(url, publicUrl), text)
  if (file === '../.env.example') {
    const title = 'Settings'
    return {
      name: 'settings',
      title,
      subject,
      section,
      text: `# ${title}\n\nEvery environment variable that the processes read.\n\n\`\`\`sh\n${own}\n\`\`\`\n`,
    }
  }
  const name = nameOf(file)
  const first = own.slice(0, own.indexOf('\n'))
  return { name, title: first.startsWith('# ') ? first.slice(2) : name, subject, section, text: own }
}

function nameOf(file: string): string {
  const last = file.slice(file.lastIndexOf('/') + 1)
  return (last.endsWith('.md') ? last.slice(0, -'.md'.length) : last).toLowerCase()
}

/** Converts a guide, with links to the pages of other guides. What is not served, such as a source file, is shown as text. */
export function convertGuide(guide: Guide, guides: readonly Guide[]): Markdown {
  const byName = new Map(guides.map((one) => [one.name, one]))
  const resolve: Resolve = (target) => {
    if (target.startsWith('#') || target.startsWith('https://')) return { url: target }
    const [path = '', anchor] = target.split('#')
    const end = anchor === undefined ? '' : `#${anchor}`
    const image = imageOf(path)
    if (image) return { url: `/docs/images/${image}` }
    if (path === 'README.md') return { url: '/docs', title: 'Documentation' }
    const isGuide =
      path === '../.env.example' || path === '../SECURITY.md' || (path.endsWith('.md') && !path.includes('/'))
    const found = isGuide ? byName.get(path === '../.env.example' ? 'settings' : nameOf(path)) : undefined
    return found && { url: `/docs/guides/${found.name}${end}`, title: found.title }
  }
  return convert(guide.text, resolve)
}

/** Returns the guide with only the sections whose headings start with these numbers ("4.1"), each with what is below it. */
export function excerptOf(guide: Guide, numbers: readonly string[]): Guide {
  let depth = 0
  const kept = lexer(guide.text).filter((token) => {
    if (token.type === 'heading') {
      const heading = token as Tokens.Heading
      if (numbers.some((number) => heading.text.startsWith(`${number} `))) depth = heading.depth
      else if (heading.depth <= depth) depth = 0
    }
    return depth > 0
  })
  return { ...guide, text: kept.map(withoutNumber).join('') }
}

/** The Markdown of a token; of a heading without its number, which means nothing outside of the guide. */
function withoutNumber({ type, raw, ...token }: Token): string {
  if (type !== 'heading') return raw
  const { text, depth } = token as Tokens.Heading
  return `${'#'.repeat(depth)} ${titleOf(text)}\n\n`
}

/** A heading without the number before it: "4.1 Content" is "Content". */
export function titleOf(heading: string): string {
  const end = heading.indexOf(' ')
  const isNumber = end > 0 && [...heading.slice(0, end)].every((sign) => sign === '.' || (sign >= '0' && sign <= '9'))
  return isNumber ? heading.slice(end + 1) : heading
}

const IMAGE_TYPES: Readonly<Record<string, string>> = { svg: 'image/svg+xml', png: 'image/png' }
const IMAGE = /^(?:pictures\/)?([a-z][a-z0-9-]{0,40}\.(?:svg|png))$/

function imageOf(path: string): string | undefined {
  return IMAGE.exec(path)?.[1]
}

/** Returns an image of the guides and its type; undefined if there is none of this name. */
export async function readImage(
  name: string,
): Promise<{ readonly type: string; readonly content: Buffer } | undefined> {
  if (imageOf(name) !== name) return undefined
  const places = [`pictures/${name}`, name].map((path) => fileURLToPath(new URL(path, DOCS)))
  for (const place of places) {
    const content = await readFile(place).catch(() => undefined)
    if (content) return { type: IMAGE_TYPES[name.slice(-3)] as string, content }
  }
  return undefined
}
