import { SaxesParser } from 'saxes'
import { createGroups } from './group-rows.ts'
import { malformed, REPORT_LIMITS, tooLarge, UnreadableReport } from './limits.ts'
import { DISPOSITIONS, type Disposition, type DmarcReading, type PublishedPolicy } from './report-reading.ts'
import { addressIn, countIn, domainIn, emailDomainIn, plainText } from './report-text.ts'

const SLICE = 64 * 1024
/** Elements whose texts are read, by their path without namespaces: those of RFC 7489 and RFC 9990 have the same names. */
const METADATA = 'feedback/report_metadata/'
const POLICY = 'feedback/policy_published/'
const RECORD = 'feedback/record'
const RECORD_VALUES: ReadonlySet<string> = new Set([
  'row/source_ip',
  'row/count',
  'identifiers/header_from',
  ...['disposition', 'dkim', 'spf'].map((name) => `row/policy_evaluated/${name}`),
])
const POLICY_TAGS = ['p', 'sp', 'np', 'adkim', 'aspf', 'pct', 'testing'] as const
const MAX_TEXT = 1000
const MAX_DECLARATION = 200
const DECLARED = /^<\?xml\s[^>]*?\bencoding\s*=\s*["']([\w.:-]{1,40})["']/
const SELECTOR = /^[\w.-]{1,253}$/
/** Signatures of one record, and values of the report, that are looked at. */
const MAX_SIGNATURES = 50
const MAX_VALUES = 100

/**
 * Reads an aggregate report, in whatever order its elements are. Elements that it does not know are skipped. Throws
 * {@link UnreadableReport}: if it is not valid XML, has a DOCTYPE (with which texts can expand), or exceeds the limits.
 */
export function readDmarc(octets: Buffer): DmarcReading {
  const report = new ReportElements()
  const parser = new SaxesParser()
  parser.on('doctype', () => {
    throw malformed('the report has a DOCTYPE')
  })
  parser.on('error', (error) => {
    throw malformed(error.message)
  })
  let between = 0
  parser.on('opentag', ({ name }) => {
    between = 0
    report.open(localName(name))
  })
  parser.on('text', (text) => report.text(text))
  parser.on('cdata', (text) => report.text(text))
  parser.on('closetag', () => {
    between = 0
    report.close()
  })
  try {
    const decoder = decoderOf(octets)
    for (let at = 0; at < octets.length; at += SLICE) {
      const text = decoder.decode(octets.subarray(at, at + SLICE), { stream: true })
      between += text.length
      parser.write(text)
      // Otherwise the parser would collect a text as long as the report.
      if (between > REPORT_LIMITS.between) throw malformed('a text in the report is too long')
    }
    decoder.decode()
    parser.close()
  } catch (error) {
    throw error instanceof UnreadableReport
      ? error
      : malformed('the report is not XML in the encoding that it declares')
  }
  return report.result()
}

/** XML 1.0 4.3.3 and appendix F: by the byte order mark, or by the declaration. Throws RangeError for an unknown encoding. */
function decoderOf(octets: Buffer): InstanceType<typeof TextDecoder> {
  const [first, second] = octets
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le', { fatal: true })
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be', { fatal: true })
  const declared = DECLARED.exec(octets.toString('latin1', 0, MAX_DECLARATION))?.[1] ?? 'utf-8'
  // Without a byte order mark, octets that can be read as the declaration are not UTF-16, whatever it says.
  return new TextDecoder(/^utf-16/i.test(declared) ? 'utf-8' : declared, { fatal: true })
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}

/** The results of one record for one way to authenticate. */
interface AuthResult {
  domain: string
  selector: string
  result: string
}

class ReportElements {
  readonly #names: string[] = []
  #path = ''
  #text = ''
  readonly #values = new Map<string, string>()
  readonly #groups = createGroups()
  #rows = 0
  #record = new Map<string, string>()
  #dkim: AuthResult[] = []
  #spf: AuthResult[] = []

  open(name: string): void {
    if (this.#names.length >= REPORT_LIMITS.depth) throw malformed('elements are nested too deeply')
    if (this.#names.length === 0 && name !== 'feedback') throw malformed('not a DMARC report')
    this.#names.push(name)
    this.#path = this.#names.join('/')
    this.#text = ''
    if (this.#path === RECORD) this.#beginRecord()
    const results = this.#resultsOf(this.#path)
    if (results && results.length < MAX_SIGNATURES) results.push({ domain: '', selector: '', result: '' })
  }

  text(text: string): void {
    if (this.#text.length < MAX_TEXT) this.#text += text.slice(0, MAX_TEXT)
  }

  close(): void {
    const path = this.#path
    if (path === RECORD) this.#endRecord()
    else if (path.startsWith(`${RECORD}/`)) this.#noteInRecord(path.slice(RECORD.length + 1))
    else if (path.startsWith(METADATA) || path.startsWith(POLICY)) {
      if (this.#values.size < MAX_VALUES) this.#note(this.#values, path)
    }
    this.#names.pop()
    this.#path = this.#names.join('/')
    this.#text = ''
  }

  #resultsOf(path: string): AuthResult[] | undefined {
    if (path === `${RECORD}/auth_results/dkim`) return this.#dkim
    return path === `${RECORD}/auth_results/spf` ? this.#spf : undefined
  }

  /** The first value counts. */
  #note(values: Map<string, string>, path: string): void {
    if (!values.has(path)) values.set(path, this.#text.trim())
  }

  #noteInRecord(path: string): void {
    if (RECORD_VALUES.has(path)) this.#note(this.#record, path)
    const [first, kind, name, ...deeper] = path.split('/')
    if (first !== 'auth_results' || deeper.length > 0) return
    const result = (kind === 'dkim' ? this.#dkim : kind === 'spf' ? this.#spf : []).at(-1)
    if (result && (name === 'domain' || name === 'selector' || name === 'result')) result[name] = this.#text.trim()
  }

  #beginRecord(): void {
    this.#rows++
    if (this.#rows > REPORT_LIMITS.rows) throw tooLarge('the number of records')
    this.#record = new Map()
    this.#dkim = []
    this.#spf = []
  }

  #endRecord(): void {
    const value = (path: string): string => this.#record.get(path) ?? ''
    const headerFrom = domainIn(value('identifiers/header_from')) ?? ''
    this.#groups.add({
      sourceIp: addressIn(value('row/source_ip')),
      headerFrom,
      disposition: dispositionIn(value('row/policy_evaluated/disposition')),
      dkim: isPass(value('row/policy_evaluated/dkim')),
      spf: isPass(value('row/policy_evaluated/spf')),
      signedBy: signersIn(this.#dkim, headerFrom),
      spfDomain: domainIn(this.#spf.find(({ result }) => isPass(result))?.domain ?? '') ?? '',
      count: countIn(value('row/count')),
    })
  }

  /** Throws UnreadableReport unless the report has what identifies it. */
  result(): DmarcReading {
    const metadata = (name: string): string => this.#values.get(METADATA + name) ?? ''
    const email = metadata('email')
    const organization = plainText(metadata('org_name')) || plainText(email)
    const reportId = plainText(metadata('report_id'))
    const domain = domainIn(this.#values.get(`${POLICY}domain`) ?? '')
    const begin = secondsIn(metadata('date_range/begin'))
    const end = secondsIn(metadata('date_range/end'))
    if (organization === '' || reportId === '' || domain === undefined || begin > end) {
      throw malformed('organization, id, domain or dates are missing')
    }
    const policy = this.#policy()
    const groups = this.#groups.largest()
    return {
      kind: 'dmarc',
      organization,
      emailDomain: emailDomainIn(email),
      reportId,
      begin,
      end,
      domain,
      policy,
      groups: groups.map((group) =>
        group.headerFrom === '' && group.sourceIp ? { ...group, headerFrom: domain } : group,
      ),
    }
  }

  #policy(): PublishedPolicy {
    const tags = POLICY_TAGS.flatMap((tag) => {
      const value = plainText(this.#values.get(POLICY + tag) ?? '').toLowerCase()
      return value === '' ? [] : [[tag, value.slice(0, 20)]]
    })
    return Object.fromEntries(tags)
  }
}

/** Of the signatures that passed, those of the domain in From or related to it, then the others; three at most. */
function signersIn(results: readonly AuthResult[], headerFrom: string): string[] {
  const passed = results.flatMap(({ domain, selector, result }) => {
    const name = domainIn(domain)
    const isComplete = name !== undefined && SELECTOR.test(selector)
    return isPass(result) && isComplete ? [{ name, text: `${name} ${selector.toLowerCase()}` }] : []
  })
  const isRelated = (name: string) =>
    name === headerFrom || headerFrom.endsWith(`.${name}`) || name.endsWith(`.${headerFrom}`)
  const first = passed.filter(({ name }) => isRelated(name))
  return [...first, ...passed.filter((one) => !first.includes(one))].slice(0, 3).map(({ text }) => text)
}

function isPass(result: string): boolean {
  return result.toLowerCase() === 'pass'
}

function dispositionIn(text: string): Disposition {
  return DISPOSITIONS.find((one) => one === text.toLowerCase()) ?? 'other'
}

function secondsIn(text: string): number {
  return /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN
}
