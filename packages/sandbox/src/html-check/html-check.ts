import caniemail from 'caniemail/caniemail.json' with { type: 'json' }
import { featuresOf } from './html-features.ts'

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
const SUPPORT: Readonly<Record<string, 'yes' | 'partial' | 'no'>> = { y: 'yes', a: 'partial', n: 'no' }
const FEATURES = new Map(data.map((feature) => [feature.slug, feature]))

/** The support of a feature by mail programs, in the form of Mailpit's API. */
export type HtmlWarning = ReturnType<typeof judge>

/** Compares what HTML uses with what mail programs support, by the data of caniemail.com, and answers as Mailpit does. */
export function checkHtml(html: string) {
  const { counts, elements } = featuresOf(html)
  const found = [...counts].flatMap(([slug, count]) => {
    const feature = FEATURES.get(slug)
    return feature ? [judge(feature, count)] : []
  })
  const mean = (field: 'Supported' | 'Partial' | 'Unsupported', whenNone: number) =>
    found.length === 0 ? whenNone : round(found.reduce((sum, { Score }) => sum + Score[field], 0) / found.length)
  /** The mail programs of each platform. */
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
    // Features that not all mail programs support, the least supported first.
    Warnings: found
      .filter(({ Score }) => Score.Partial > 0 || Score.Unsupported > 0)
      .sort((a, b) => a.Score.Supported - b.Score.Supported),
    Platforms: Object.fromEntries([...platforms].map(([platform, families]) => [platform, [...families].sort()])),
  }
}

function judge(feature: Feature, count: number) {
  const results = resultsOf(feature)
  const percent = (support: (typeof SUPPORT)[string]) =>
    round((100 * results.filter(({ Support }) => Support === support).length) / Math.max(1, results.length))
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
    Score: { Found: count, Supported: percent('yes'), Partial: percent('partial'), Unsupported: percent('no') },
  }
}

/** Only the latest version that was tested of each program; those of unknown support are left out. */
function resultsOf({ stats }: Feature) {
  return Object.entries(stats).flatMap(([family, platforms]) =>
    Object.entries(platforms).flatMap(([platform, versions]) => {
      const [version, value] = latest(Object.entries(versions))
      const support = SUPPORT[value.charAt(0)]
      if (!support) return []
      const program = nicenames.family[family] ?? family
      const Name = `${program} ${nicenames.platform[platform] ?? platform} (${version})`
      const note = /#(\d{1,3})/.exec(value)?.[1] ?? ''
      return [{ Name, Platform: platform, Family: program, Version: version, Support: support, NoteNumber: note }]
    }),
  )
}

/** Names of properties that are whole numbers come before all others: version 15 before 11.4. Those from 1000 on are years, of other versions. */
function latest(versions: readonly [string, string][]): readonly [string, string] {
  const last = versions.at(-1) ?? ['', '']
  const isLater = (version: number) =>
    Number.isInteger(version) && version < 1000 && version > Number.parseFloat(last[0])
  return versions.findLast(([version]) => isLater(Number(version))) ?? last
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}
