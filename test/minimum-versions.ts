/**
 * The lowest versions of risky dependencies, whoever brings them along; each with why. Where it would be wrong to run an older one only
 * the reason tells, so a row stays until the package is gone. `test/minimum-versions.test.ts` holds pnpm-lock.yaml against it.
 */
export interface MinimumVersion {
  readonly name: string
  readonly floor: string
  readonly why: string
}

export const MINIMUM_VERSIONS: readonly MinimumVersion[] = [
  {
    name: 'nodemailer',
    floor: '10.1.4',
    why: 'injection by envelope.size and EHLO name (GHSA-c7w3-x93f-qmm8, GHSA-vvjj-xcjg-gr5g), raw reads files and URLs (GHSA-p6gq-j5cr-w38f), recipients of other domains by comments and quotes (GHSA-mm7p-fcc7-pg87, GHSA-cc9r-2j5m-2m83), recursive groups (GHSA-rcmh-qjqh-p98v), quadratic addressparser (GHSA-2x7j-588g-ccc2), bare CR on the wire (10.0.12), bounded groups (10.1.4)',
  },
  {
    name: 'smtp-server',
    floor: '3.19.23',
    why: 'a body whose dots arrive in a segment of their own ended DATA and was executed (3.19.3), control characters in envelopes and names (3.19.0), line limits (3.18.3, 3.19.15), plain text kept over STARTTLS (3.19.23); in its changelog only',
  },
  {
    name: 'mailparser',
    floor: '3.9.31',
    why: 'XSS in HTML made from text (3.9.3), addresses made up from encoded words (3.9.4), quadratic linkify-it (GHSA-22p9-wv53-3rq4, GHSA-v245-v573-v5vm), inline files unbounded (3.9.30)',
  },
  { name: 'libmime', floor: '5.4.2', why: 'prototype pollution by header fields' },
  {
    name: 'handlebars',
    floor: '4.7.9',
    why: 'code execution by a template that is a syntax tree (CVE-2026-33937), @partial-block (CVE-2026-33938), malformed decorators (CVE-2026-33939), and four before them (CVE-2019-19919, CVE-2019-20920, CVE-2021-23369, CVE-2021-23383)',
  },
  {
    name: 'liquidjs',
    floor: '10.27.1',
    why: "code execution (CVE-2026-45618), memory limit passed by (CVE-2026-55575); not used, and no sandbox by its author's own word",
  },
  {
    name: 'fastify',
    floor: '5.8.3',
    why: 'content types that pass validation by (CVE-2025-32442, CVE-2026-25223), memory of web streams (CVE-2026-25224), forged X-Forwarded-Proto and -Host (CVE-2026-3635)',
  },
]
