import { Parser } from 'htmlparser2'

export interface HtmlParts {
  /** Targets of links, in order, each once. */
  readonly links: readonly string[]
  /** Whether there are more than those. */
  readonly hasMoreLinks: boolean
  /** Number of images that are loaded from elsewhere. */
  readonly remoteImages: number
}

export const MAX_LINKS = 500
const MAX_URL = 2000
const HIDDEN = new Set(['style', 'script', 'title', 'head', 'template'])

/** Reads links and images of HTML, in time linear to its length. */
export function partsOf(html: string): HtmlParts {
  const links = new Set<string>()
  let hasMoreLinks = false
  let remoteImages = 0
  const parser = new Parser({
    onopentag(name, attributes) {
      const { href, src } = attributes
      if ((name === 'a' || name === 'area') && href) {
        if (links.size < MAX_LINKS) links.add(href.trim().slice(0, MAX_URL))
        else hasMoreLinks ||= !links.has(href.trim().slice(0, MAX_URL))
      }
      if (name === 'img' && src && isRemote(src)) remoteImages++
    },
  })
  parser.write(html)
  parser.end()
  return { links: [...links], hasMoreLinks, remoteImages }
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
  for (let at = 0; at < html.length && text.length < most; at += 16_384) parser.write(html.slice(at, at + 16_384))
  return text.slice(0, most)
}

function isRemote(url: string): boolean {
  const start = url.trimStart().slice(0, 8).toLowerCase()
  return start.startsWith('http:') || start.startsWith('https:') || start.startsWith('//')
}
