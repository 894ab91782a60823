import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto'
import { crc32, deflateRawSync, gzipSync } from 'node:zlib'
import { dkimSign } from 'mailauth/lib/dkim/sign.js'
import type { Zone } from '../../helpers/dns.ts'

/** Aggregate reports as receivers write them: made up, in their order of elements, with their namespaces and extensions. */

const DAY = 86_400

export interface ReportedRow {
  readonly ip?: string
  readonly count?: number
  readonly dkim?: 'pass' | 'fail'
  readonly spf?: 'pass' | 'fail'
  readonly from?: string
  /** Domain and selector of a valid signature. */
  readonly signed?: readonly [domain: string, selector: string]
  /** The domain for which SPF passed. */
  readonly spfDomain?: string
}

export interface Reported {
  readonly domain: string
  readonly id?: string
  readonly org?: string
  readonly email?: string
  readonly rows?: readonly ReportedRow[]
  /** Days before now at which it begins. */
  readonly daysAgo?: number
  readonly policy?: string
}

let ids = 0
const nextId = () => `${Date.now()}${++ids}`

function range(daysAgo = 1): { begin: number; end: number } {
  const begin = Math.floor(Date.now() / 1000) - daysAgo * DAY
  return { begin, end: begin + DAY - 1 }
}

/** As Google does, by RFC 7489. */
export function googleReport({ domain, rows = [{}], org = 'google.com', ...given }: Reported): string {
  const { begin, end } = range(given.daysAgo)
  const records = rows.map(
    ({ ip = '192.0.2.1', count = 1, dkim = 'pass', spf = 'pass', from = domain, signed, spfDomain }) => `  <record>
    <row>
      <source_ip>${ip}</source_ip>
      <count>${count}</count>
      <policy_evaluated>
        <disposition>none</disposition>
        <dkim>${dkim}</dkim>
        <spf>${spf}</spf>
      </policy_evaluated>
    </row>
    <identifiers>
      <header_from>${from}</header_from>
    </identifiers>
    <auth_results>
${
  signed
    ? `      <dkim>
        <domain>${signed[0]}</domain>
        <result>pass</result>
        <selector>${signed[1]}</selector>
      </dkim>
`
    : ''
}      <spf>
        <domain>${spfDomain ?? from}</domain>
        <result>${spfDomain === undefined ? spf : 'pass'}</result>
      </spf>
    </auth_results>
  </record>
`,
  )
  return `<?xml version="1.0" encoding="UTF-8" ?>
<feedback>
  <version>1.0</version>
  <report_metadata>
    <org_name>${org}</org_name>
    <email>${given.email ?? `noreply-dmarc-support@${org}`}</email>
    <extra_contact_info>https://support.google.com/a/answer/2466580</extra_contact_info>
    <report_id>${given.id ?? nextId()}</report_id>
    <date_range>
      <begin>${begin}</begin>
      <end>${end}</end>
    </date_range>
  </report_metadata>
  <policy_published>
    <domain>${domain}</domain>
    <adkim>r</adkim>
    <aspf>r</aspf>
    <p>${given.policy ?? 'none'}</p>
    <sp>none</sp>
    <pct>100</pct>
    <np>none</np>
  </policy_published>
${records.join('')}</feedback>
`
}

/** As Microsoft does: one line, schema namespaces, envelopes, the order of RFC 7489's schema. */
export function microsoftReport({ domain, rows = [{}], ...given }: Reported): string {
  const { begin, end } = range(given.daysAgo)
  const records = rows.map(
    ({ ip = '192.0.2.1', count = 1, dkim = 'pass', spf = 'pass', from = domain, signed }) =>
      `<record><row><source_ip>${ip}</source_ip><count>${count}</count><policy_evaluated><disposition>none</disposition><dkim>${dkim}</dkim>` +
      `<spf>${spf}</spf></policy_evaluated></row><identifiers><envelope_to>outlook.com</envelope_to><envelope_from>${from}</envelope_from>` +
      `<header_from>${from}</header_from></identifiers><auth_results>` +
      `${signed ? `<dkim><domain>${signed[0]}</domain><selector>${signed[1]}</selector><result>pass</result></dkim>` : ''}` +
      `<spf><domain>${from}</domain><scope>mfrom</scope><result>${spf}</result></spf></auth_results></record>`,
  )
  return (
    `<?xml version="1.0"?>\r\n<feedback xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">` +
    `<version>1.0</version><report_metadata><org_name>Outlook.com</org_name><email>dmarcreport@microsoft.com</email>` +
    `<report_id>${given.id ?? nextId()}</report_id><date_range><begin>${begin}</begin><end>${end}</end></date_range></report_metadata>` +
    `<policy_published><domain>${domain}</domain><adkim>r</adkim><aspf>r</aspf><p>none</p><sp>none</sp><pct>100</pct><fo>0</fo></policy_published>` +
    `${records.join('')}</feedback>`
  )
}

/** As Yahoo does: the organization has another domain than its address, policy before the range. */
export function yahooReport({ domain, rows = [{}], ...given }: Reported): string {
  const { begin, end } = range(given.daysAgo)
  const records = rows.map(
    ({ ip = '192.0.2.1', count = 1, dkim = 'pass', spf = 'pass', from = domain }) => `  <record>
    <identifiers><header_from>${from}</header_from></identifiers>
    <row>
      <source_ip>${ip}</source_ip>
      <count>${count}</count>
      <policy_evaluated><disposition>none</disposition><dkim>${dkim}</dkim><spf>${spf}</spf></policy_evaluated>
    </row>
    <auth_results><spf><domain>${from}</domain><result>${spf}</result></spf></auth_results>
  </record>
`,
  )
  return `<?xml version="1.0"?>
<feedback>
  <policy_published>
    <domain>${domain}</domain>
    <adkim>r</adkim><aspf>r</aspf><p>none</p><pct>100</pct>
  </policy_published>
  <report_metadata>
    <org_name>Yahoo</org_name>
    <email>dmarchelp@yahooinc.com</email>
    <report_id>${given.id ?? nextId()}</report_id>
    <date_range><begin>${begin}</begin><end>${end}</end></date_range>
  </report_metadata>
${records.join('')}</feedback>`
}

/** By RFC 9990, as Fastmail could: its namespace with a prefix, extensions, no pct. */
export function fastmailReport({ domain, rows = [{}], ...given }: Reported): string {
  const { begin, end } = range(given.daysAgo)
  const records = rows.map(
    ({ ip = '192.0.2.1', count = 1, dkim = 'pass', spf = 'pass', from = domain }) => `  <d:record>
    <d:row>
      <d:source_ip>${ip}</d:source_ip><d:count>${count}</d:count>
      <d:policy_evaluated>
        <d:disposition>pass</d:disposition><d:dkim>${dkim}</d:dkim><d:spf>${spf}</d:spf>
        <d:reason><d:type>trusted_forwarder</d:type><d:comment>a &lt;list&gt; &amp; its friends</d:comment></d:reason>
      </d:policy_evaluated>
    </d:row>
    <d:identifiers><d:header_from>${from.toUpperCase()}</d:header_from><d:envelope_from></d:envelope_from></d:identifiers>
    <d:auth_results><d:spf><d:domain>${from}</d:domain><d:result>${spf}</d:result></d:spf></d:auth_results>
  </d:record>
`,
  )
  return `<?xml version="1.0" encoding="utf-8"?>
<d:feedback xmlns:d="urn:ietf:params:xml:ns:dmarc-2.0" xmlns:x="urn:x-fastmail">
  <d:version>2.0</d:version>
  <d:report_metadata>
    <d:org_name>Fastmail Pty Ltd</d:org_name>
    <d:email>reports@fastmaildmarc.com</d:email>
    <d:extra_contact_info></d:extra_contact_info>
    <d:report_id>${given.id ?? nextId()}</d:report_id>
    <d:date_range><d:begin>${begin}</d:begin><d:end>${end}</d:end></d:date_range>
    <d:generator>Mail::DMARC</d:generator>
  </d:report_metadata>
  <d:policy_published>
    <d:domain>${domain}</d:domain><d:discovery_method>treewalk</d:discovery_method><d:p>none</d:p><d:sp>none</d:sp>
    <d:np>reject</d:np><d:testing>n</d:testing>
  </d:policy_published>
  <d:extensions><x:arc override="true"><x:seal>none</x:seal></x:arc></d:extensions>
${records.join('')}</d:feedback>`
}

/** A TLS report (RFC 8460 appendix B). */
export function tlsReport({ domain, id = nextId(), org = 'Harbor Mail', email = 'tls@harbor.example' }: Reported) {
  const { begin, end } = range()
  const iso = (seconds: number) => new Date(seconds * 1000).toISOString().replace('.000', '')
  return {
    'organization-name': org,
    'date-range': { 'start-datetime': iso(begin), 'end-datetime': iso(end) },
    'contact-info': email,
    'report-id': id,
    policies: [
      {
        policy: {
          'policy-type': 'sts',
          'policy-string': ['version: STSv1'],
          'policy-domain': domain,
          'mx-host': ['*.mx'],
        },
        summary: { 'total-successful-session-count': 5326, 'total-failure-session-count': 303 },
        'failure-details': [
          failure('certificate-expired', `mx1.${domain}`, 100),
          failure('certificate-expired', `mx1.${domain}`, 3),
          failure('starttls-not-supported', `mx2.${domain}`, 200),
        ],
      },
    ],
  }
}

function failure(type: string, mx: string, count: number) {
  return {
    'result-type': type,
    'sending-mta-ip': '2001:db8:abcd:12::1',
    'receiving-mx-hostname': mx,
    'receiving-ip': '203.0.113.56',
    'failed-session-count': count,
  }
}

export interface Attached {
  readonly octets: Buffer
  readonly type?: string
  readonly name?: string
  readonly from?: string
}

export const gzipped = (text: string | Buffer, name = 'google.com!ship.example!1!2.xml.gz'): Attached => {
  return { octets: gzipSync(text), type: 'application/gzip', name }
}
export const zipped = (text: string | Buffer, name = 'google.com!ship.example!1!2.zip'): Attached => {
  return { octets: zipOf([text]), type: 'application/zip', name }
}
export const plain = (text: string | Buffer): Attached => {
  return { octets: Buffer.from(text), type: 'text/xml', name: 'report.xml' }
}

/** Mail with a report: only the attachment, as Google sends it, or with a text before it. */
export function reportMail(
  attached: Attached,
  { alone = false, tls = false, from = 'noreply-dmarc-support@google.com' } = {},
) {
  const { octets, type = 'application/octet-stream', name = 'report' } = attached
  const part = [
    `Content-Type: ${type}; name="${name}"`,
    `Content-Disposition: attachment; filename="${name}"`,
    'Content-Transfer-Encoding: base64',
    '',
    octets.toString('base64').replace(/.{76}/g, '$&\r\n'),
  ].join('\r\n')
  const head = `From: ${from}\r\nTo: dmarc@bounces.test\r\nSubject: Report Domain: ship.example\r\nMIME-Version: 1.0\r\n`
  if (alone) return Buffer.from(`${head}${part}\r\n`)
  const kind = tls ? 'multipart/report; report-type=tlsrpt' : 'multipart/mixed'
  const text = '--b\r\nContent-Type: text/plain\r\n\r\nThis is an aggregate report.\r\n'
  return Buffer.from(`${head}Content-Type: ${kind}; boundary="b"\r\n\r\n${text}--b\r\n${part}\r\n--b--\r\n`)
}

/** Keys of receivers, with the records that belong to them. */
export interface SigningKey {
  readonly domain: string
  readonly zones: Record<string, Zone>
  sign(mail: Buffer): Promise<Buffer>
}

export function createSigningKey(domain: string, tags = ''): SigningKey {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
  const record = createPublicKey(createPrivateKey(pem)).export({ type: 'spki', format: 'der' }).toString('base64')
  return {
    domain,
    zones: { [`s1._domainkey.${domain}`]: { txt: [`v=DKIM1; k=rsa; ${tags}p=${record}`] } },
    async sign(mail) {
      const signature = { signingDomain: domain, selector: 's1', privateKey: pem }
      const { signatures } = await dkimSign(mail, { ...signature, signatureData: [signature] })
      return Buffer.concat([Buffer.from(signatures), mail])
    },
  }
}

/** `size`: what the archive says of its first file instead of the truth. */
export function zipOf(
  files: readonly (string | Buffer | { readonly name: string; readonly text: string })[],
  { size }: { readonly size?: number } = {},
): Buffer {
  const locals: Buffer[] = []
  const entries: Buffer[] = []
  let offset = 0
  for (const [at, file] of files.entries()) {
    const { name: given = `report${at}.xml`, text } = isNamed(file) ? file : { text: file }
    const octets = Buffer.from(text)
    const packed = deflateRawSync(octets)
    const name = Buffer.from(given)
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(8, 4)
    common.writeUInt32LE(crc32(octets), 10)
    common.writeUInt32LE(packed.length, 14)
    common.writeUInt32LE(at === 0 && size !== undefined ? size : octets.length, 18)
    common.writeUInt16LE(name.length, 22)
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), common, name, packed])
    const rest = Buffer.alloc(14)
    rest.writeUInt32LE(offset, 10)
    entries.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00', 'latin1'), common, rest, name]))
    locals.push(local)
    offset += local.length
  }
  const directory = Buffer.concat(entries)
  const end = Buffer.alloc(18)
  end.writeUInt16LE(files.length, 4)
  end.writeUInt16LE(files.length, 6)
  end.writeUInt32LE(directory.length, 8)
  end.writeUInt32LE(offset, 12)
  return Buffer.concat([...locals, directory, Buffer.from('PK\x05\x06', 'latin1'), end])
}

function isNamed(file: unknown): file is { readonly name: string; readonly text: string } {
  return typeof file === 'object' && !Buffer.isBuffer(file)
}
