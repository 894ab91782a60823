import caniemail from 'caniemail/caniemail.json' with { type: 'json' }
import { featuresOf } from './html-features.ts'

/** How a mail program supports a feature, as of its latest test. */
export interface ClientResult {
  readonly Name: string
  readonly Platform: string
  readonly Family: string
  readonly Version: string
  readonly Support: 'yes' | 'no' | 'partial'
  readonly NoteNumber: string
}

export interface HtmlWarning {
  readonly Slug: string
  readonly Title: string
  readonly Description: string
  readonly URL: string
  readonly Category: 'html' | 'css'
  readonly Tags: readonly string[]
  readonly Keywords: string
  readonly Results: readonly ClientResult[]
  readonly NotesByNumber: Readonly<Record<string, string>>
  /** Per cent of the mail programs that were tested, except Found. */
  readonly Score: {
    readonly Found: number
    readonly Supported: number
    readonly Partial: number
    readonly Unsupported: number
  }
}

/** The form in which Mailpit answers. */
export interface HtmlCheck {
  readonly Total: {
    readonly Tests: number
    readonly Nodes: number
    readonly Supported: number
    readonly Partial: number
    readonly Unsupported: number
  }
  /** Features that not all mail programs support, the least supported first. */
  readonly Warnings: readonly HtmlWarning[]
  /** The mail programs of each platform. */
  readonly Platforms: Readonly<Record<string, readonly string[]>>
}

interface Feature {
  readonly slug: string
  readonly title: string
  readonly description: string | null
  readonly url: string
  readonly category: string
  readonly tags: readonly string[] | null
  readonly keywords: string | null
  readonly stats: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, string>>>>>>
  readonly notes_by_num: Readonly<Record<string, string>> | null
}

const { data, nicenames } = caniemail as unknown as {
  readonly data: readonly Feature[]
  readonly nicenames: Readonly<Record<'family' | 'platform', Readonly<Record<string, string>>>>
}
const SUPPORT: Readonly<Record<string, ClientResult['Support']>> = { y: 'yes', a: 'partial', n: 'no' }
const FEATURES = new Map(data.map((feature) => [feature.slug, feature]))

/** Compares what HTML uses with what mail programs support, by the data of caniemail.com. */
export function checkHtml(html: string): HtmlCheck {
  const { counts, elements } = featuresOf(html)
  const found = [...counts].flatMap(([slug, count]) => {
    const feature = FEATURES.get(slug)
    return feature ? [judge(feature, count)] : []
  })
  const mean = (field: 'Supported' | 'Partial' | 'Unsupported', whenNone: number) =>
    found.length === 0 ? whenNone : round(found.reduce((sum, { Score }) => sum + Score[field], 0) / found.length)
  const warnings = found.filter(({ Score }) => Score.Partial > 0 || Score.Unsupported > 0)
  const platforms = new Map<string, Set<string>>()
  for (const { Results } of found)
    for (const { Platform, Family } of Results)
      platforms.set(Platform, (platforms.get(Platform) ?? new Set()).add(Family))
  return {
    Total: {
      Tests: found.length,
      Nodes: elements,
      Supported: mean('Supported', 100),
      Partial: mean('Partial', 0),
      Unsupported: mean('Unsupported', 0),
    },
    Warnings: warnings.sort((a, b) => a.Score.Supported - b.Score.Supported),
    Platforms: Object.fromEntries([...platforms].map(([platform, families]) => [platform, [...families].sort()])),
  }
}

function judge(feature: Feature, count: number): HtmlWarning {
  const results = resultsOf(feature)
  const share = (support: ClientResult['Support']) =>
    results.length === 0
      ? 0
      : round((100 * results.filter(({ Support }) => Support === support).length) / results.length)
  return {
    Slug: feature.slug,
    Title: feature.title,
    Description: feature.description ?? '',
    URL: feature.url,
    Category: feature.category === 'css' ? 'css' : 'html',
    Tags: feature.tags ?? [],
    Keywords: feature.keywords ?? '',
    Results: results,
    NotesByNumber: feature.notes_by_num ?? {},
    Score: { Found: count, Supported: share('yes'), Partial: share('partial'), Unsupported: share('no') },
  }
}

/** Only the latest version that was tested of each program; those of unknown support are left out. */
function resultsOf({ stats }: Feature): ClientResult[] {
  return Object.entries(stats).flatMap(([family, platforms]) =>
    Object.entries(platforms).flatMap(([platform, versions]) => {
      const [version = '', value = ''] = Object.entries(versions).at(-1) ?? []
      const support = SUPPORT[value.charAt(0)]
      if (!support) return []
      const names = [nicenames.family[family] ?? family, nicenames.platform[platform] ?? platform] as const
      const note = /#(\d{1,3})/.exec(value)?.[1] ?? ''
      const Name = `${names[0]} ${names[1]} (${version})`
      return [{ Name, Platform: platform, Family: names[0], Version: version, Support: support, NoteNumber: note }]
    }),
  )
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}
