import { Parser } from 'htmlparser2'

export interface Link {
  readonly url: string
  /** Its text, or that of an image in it. */
  readonly text: string
}

export interface HtmlParts {
  /** In order, each URL once; the first ones only. */
  readonly links: readonly Link[]
  /** Number of images that are loaded from elsewhere. */
  readonly remoteImages: number
}

export const MAX_LINKS = 500
const MAX_URL = 2000
const MAX_LINK_TEXT = 200
/** Characters of HTML between two looks at whether enough was read. */
const CHUNK = 16_384
const HIDDEN = new Set(['style', 'script', 'title', 'head', 'template'])

/** Reads links and images of HTML, in time linear to its length. */
export function partsOf(html: string): HtmlParts {
  const links = new Map<string, string>()
  let remoteImages = 0
  let open: string | undefined
  const show = (text: string) => {
    const shown = open === undefined ? undefined : links.get(open)
    if (open !== undefined && shown !== undefined && shown.length < MAX_LINK_TEXT)
      links.set(open, shown + text.slice(0, MAX_LINK_TEXT))
  }
  const parser = new Parser({
    onopentag(name, { href, src, alt }) {
      if ((name === 'a' || name === 'area') && href) {
        const url = href.trim().slice(0, MAX_URL)
        const isNew = !links.has(url) && links.size < MAX_LINKS
        open = isNew ? url : undefined
        if (isNew) links.set(url, '')
      }
      if ((name === 'img' || name === 'area') && alt) show(` ${alt} `)
      if (name === 'img' && src && isRemote(src)) remoteImages++
    },
    ontext: show,
    onclosetag: (name) => void (name === 'a' && (open = undefined)),
  })
  parser.write(html)
  parser.end()
  const shown = (text: string) => text.replace(/\s+/g, ' ').trim().slice(0, MAX_LINK_TEXT)
  return { links: [...links].map(([url, text]) => ({ url, text: shown(text) })), remoteImages }
}

const TEXT_LINK = /https?:\/\/[^\s<>"]+/gi

/** The first links of a text, each once. */
export function linksOfText(text: string): readonly Link[] {
  const urls = new Set<string>()
  for (const [found] of text.matchAll(TEXT_LINK)) {
    if (urls.size === MAX_LINKS) break
    urls.add(withoutStops(found.slice(0, MAX_URL)))
  }
  return [...urls].map((url) => ({ url, text: '' }))
}

/** The ends of sentences and brackets are not part of a link in them. */
function withoutStops(url: string): string {
  let end = url.length
  while (end > 0 && '.,;:!?)]'.includes(url.charAt(end - 1))) end--
  return url.slice(0, end)
}

/** Returns the first characters of the text that HTML shows. */
export function textOf(html: string, most: number): string {
  let text = ''
  let hidden = 0
  const parser = new Parser({
    onopentagname: (name) => void (HIDDEN.has(name) && hidden++),
    onclosetag: (name) => void (HIDDEN.has(name) && hidden--),
    ontext(piece) {
      if (hidden === 0 && text.length < most) text += `${piece.slice(0, most)} `
    },
  })
  for (let at = 0; at < html.length && text.length < most; at += CHUNK) parser.write(html.slice(at, at + CHUNK))
  return text.slice(0, most)
}

/** Elements within a line; any other begins a new one. */
const INLINE = new Set(
  'a abbr b bdi big cite code em font i kbd label mark s small span strong sub sup tt u wbr'.split(' '),
)

/** Returns the lines that HTML shows, up to the limit of characters. */
export function linesOf(html: string, most: number): readonly string[] {
  let text = ''
  let hidden = 0
  const breakLine = (name: string) => {
    if (!INLINE.has(name)) text += '\n'
  }
  const parser = new Parser({
    onopentagname(name) {
      if (HIDDEN.has(name)) hidden++
      breakLine(name)
    },
    onclosetag(name) {
      if (HIDDEN.has(name)) hidden--
      breakLine(name)
    },
    ontext(piece) {
      // Line ends of the source are blanks.
      if (hidden === 0 && text.length < most) text += piece.slice(0, most).replace(/\s/g, ' ')
    },
  })
  for (let at = 0; at < html.length && text.length < most; at += CHUNK) parser.write(html.slice(at, at + CHUNK))
  return text.slice(0, most).split('\n')
}

function isRemote(url: string): boolean {
  const start = url.trimStart().slice(0, 8).toLowerCase()
  return start.startsWith('http:') || start.startsWith('https:') || start.startsWith('//')
}
