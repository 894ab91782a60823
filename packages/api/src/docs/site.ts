import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Config } from '@postrider/core'
import type { DocsReader } from '@postrider/dashboard'
import { loadAssets, render } from '@postrider/ui'
import { lexer, type Token, type Tokens } from 'marked'
import { HELP_PATH } from '../v3/mail-send/help-page.ts'
import type { Field } from './fields.ts'
import { API_NAMES, APIS, type DocsPage, docsDocument, type Frame } from './frame.ts'
import { type Guide, readGuides, titleOf } from './guides.ts'
import { createNames, plainText } from './markdown.ts'
import { guideIndex, operationText } from './markdown-pages.ts'
import { apiPage, type ContractSection, guidePage, helpPage, missingPage, operationPage, searchPage } from './pages.ts'
import { type Described, describedOperations } from './reference.ts'
import { createSearch, MAX_QUERY, type Section } from './search.ts'
import { startPage } from './start.ts'

export interface Site {
  /** The document at this path; undefined if no page has this path. */
  page(path: string): Promise<string | undefined>
  /** The first page for a reader who is logged in. */
  start(reader: DocsReader): Promise<string>
  /** The page at this path, which is without ".md", as Markdown, or the list of all pages ("/llms.txt"); undefined if there is none. */
  markdown(path: string): string | undefined
  /** The page of results. The first search prepares the text of all pages, which takes a tenth of a second. */
  search(query: string): Promise<string>
  missing(): Promise<string>
}

/** `publicUrl`: the base of URLs in examples. `publicPath`: see `render`. */
export type PublicPlace = Pick<Config, 'publicUrl' | 'publicPath' | 'relayPort' | 'tlsCert'>

/** Reads the guides and operations. */
export async function openSite({ publicUrl, publicPath, relayPort, tlsCert }: PublicPlace): Promise<Site> {
  const [assets, guides] = await Promise.all([loadAssets('/app/-'), readGuides(publicUrl)])
  const operations = {
    v2: describedOperations('v2', publicUrl),
    v3: describedOperations('v3', publicUrl),
    operator: describedOperations('operator', publicUrl),
  }
  const frame: Frame = { assets, guides, operations }
  const addresses = { publicUrl, relayPort, isSelfSigned: tlsCert === undefined }
  const texts = new Map<string, () => string>([['/llms.txt', () => guideIndex(frame, publicUrl)]])
  const contract = headingsOf(guides.find(({ name }) => name === 'contract-v3'))
  const makers = new Map<string, () => DocsPage>([['/docs', () => startPage(frame, addresses, undefined)]])
  texts.set('/docs', () => guideIndex(frame, publicUrl))
  for (const guide of guides) {
    makers.set(`/docs/guides/${guide.name}`, () => guidePage(guide, frame))
    texts.set(`/docs/guides/${guide.name}`, () => guide.text)
  }
  for (const api of API_NAMES) {
    makers.set(`/docs/${api}`, () => apiPage(api, frame))
    for (const operation of operations[api]) {
      const id = operation.section === undefined ? undefined : contract(operation.section)
      makers.set(`/docs/${api}/${operation.name}`, () => operationPage(operation, frame, id))
      texts.set(`/docs/${api}/${operation.name}`, () => operationText(operation))
    }
  }
  makers.set(HELP_PATH, helpPage)
  let searching: Promise<Awaited<ReturnType<typeof createSearch>>> | undefined
  const documentOf = (page: DocsPage) => render(docsDocument(frame, page), publicPath)

  return {
    async page(path) {
      const make = makers.get(path)
      return make && documentOf(make())
    },
    start: (reader) => documentOf(startPage(frame, addresses, reader)),
    markdown: (path) => texts.get(path)?.(),
    async search(text) {
      const query = text.slice(0, MAX_QUERY)
      searching ??= sectionsOf(frame).then(createSearch)
      const find = await searching
      return documentOf(searchPage(frame, query, find(query)))
    },
    missing: () => documentOf(missingPage()),
  }
}

/** Returns a function from "3.5" to the heading with this number; undefined if there is none. */
function headingsOf(guide: Guide | undefined): (section: string) => ContractSection | undefined {
  const nameOf = createNames()
  const headings = lexer(guide?.text ?? '')
    .filter((token) => token.type === 'heading')
    .map((token) => plainText((token as Tokens.Heading).tokens))
    .map((text) => ({ text, id: nameOf(text) }))
  return (section) => {
    const found = headings.find(({ text }) => text.startsWith(`${section} `) || text.startsWith(`${section}. `))
    return found && { id: found.id, title: titleOf(found.text) }
  }
}

/** All that can be found. Gives way to other work between the guides, each of which takes some milliseconds. */
async function sectionsOf({ guides, operations }: Frame): Promise<readonly Section[]> {
  const sections: Section[] = []
  for (const guide of guides) {
    sections.push(...sectionsOfGuide(guide))
    await nextTurn()
  }
  for (const api of API_NAMES) sections.push(...operations[api].map(sectionOfOperation))
  return sections
}

function sectionsOfGuide({ name, title, subject, text }: Guide): readonly Section[] {
  const path = `/docs/guides/${name}`
  const nameOf = createNames()
  const parts = [{ path, title, heading: title, texts: [subject], names: [] as string[] }]
  for (const token of lexer(text)) {
    if (token.type === 'heading') {
      const heading = plainText((token as Tokens.Heading).tokens)
      const id = nameOf(heading)
      if ((token as Tokens.Heading).depth > 1) {
        parts.push({ path: `${path}#${id}`, title, heading, texts: [], names: [] })
        continue
      }
    }
    const part = parts.at(-1) as (typeof parts)[number]
    part.texts.push(textOf(token))
    if (token.type === 'table') part.names.push(...firstCells(token as Tokens.Table))
  }
  return parts.map(({ texts, ...part }) => ({ ...part, text: spaced(texts.join(' ')) }))
}

/** The first column of a table has the names of what it describes. */
function firstCells({ rows }: Tokens.Table): readonly string[] {
  return rows.map(([cell]) => (cell ? plainText(cell.tokens) : ''))
}

function textOf(token: Token): string {
  if (token.type === 'table') {
    const { header, rows } = token as Tokens.Table
    return [header, ...rows].map((row) => row.map(({ tokens }) => plainText(tokens)).join(' ')).join('. ')
  }
  if (token.type === 'list')
    return (token as Tokens.List).items.map(({ tokens }) => tokens.map(textOf).join(' ')).join(' ')
  if ('tokens' in token && token.tokens) return plainText(token.tokens)
  return 'text' in token ? String(token.text) : ''
}

const spaced = (text: string) => text.split(/\s/).filter(Boolean).join(' ')

function sectionOfOperation(operation: Described): Section {
  const { api, name, summary, method, path, inPath, inQuery, inBody, answer } = operation
  const inputs = [...inPath, ...inQuery, ...inBody].flatMap(withInner)
  const fields = [...inputs, ...answer.fields.flatMap(withInner)]
  const described = fields.map((field) => `${field.name}: ${field.description || field.type}`)
  return {
    path: `/docs/${api}/${name}`,
    title: `${summary}`,
    heading: `${APIS[api].title} ${name}`,
    text: `${method} ${path} · ${described.join('; ')}`,
    names: [name, ...fields.map((field) => field.name)],
  }
}

function withInner(field: Field): readonly Field[] {
  return [field, ...field.fields.flatMap(withInner)]
}
