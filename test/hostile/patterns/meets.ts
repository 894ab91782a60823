/** What text the patterns of a file meet, and how long it may be at most; the longest beginning of the file's path counts. */
export interface Meets {
  readonly text: string
  /** Octets. */
  readonly longest: number
}

const kB = 1024
const MB = 1024 * kB

const OPERATOR: Meets = { text: 'settings and command lines of the operator', longest: 128 * kB }
const BODY: Meets = { text: 'values of a request body', longest: 41 * MB }
const HEAD: Meets = { text: 'a header field or path of a request', longest: 16 * kB }
const REPLY: Meets = { text: "a remote server's reply, cut when it was read", longest: kB }
const MESSAGE: Meets = { text: 'a message or its parts', longest: 30 * MB }
const MAIL_HEAD: Meets = { text: 'the header of a relayed message', longest: 512 * kB }
const OWN: Meets = { text: 'what the service wrote itself, or the database answered', longest: 64 * kB }
const VALUE: Meets = { text: 'values of a call, from any door', longest: 41 * MB }

export const MEETS: Readonly<Record<string, Meets>> = {
  'packages/api/src/': HEAD,
  'packages/api/src/http/strict-json.ts': { text: 'a key of JSON, cut and quoted', longest: kB },
  'packages/api/src/tracking/one-click.ts': { text: 'the body of a one-click unsubscribe', longest: 16 * kB },
  'packages/api/src/v2/': BODY,
  'packages/api/src/v3/': BODY,
  'packages/cli/src/': OPERATOR,
  'packages/client/src/': { text: 'what the program says that uses the client', longest: MB },
  'packages/core/src/': VALUE,
  'packages/dashboard/src/': HEAD,
  'packages/launch/src/': { text: 'sources, their paths, and options of Node', longest: 64 * kB },
  'packages/dashboard/src/pages/': { text: 'fields of a form', longest: 2 * MB },
  'packages/core/src/platform/config/config.ts': OPERATOR,
  'packages/core/src/platform/database/database.ts': OWN,
  'packages/core/src/platform/database/migrations/migrate.ts': OWN,
  'packages/core/src/process.ts': OWN,
  'packages/core/src/delivery/': REPLY,
  'packages/core/src/delivery/providers/': {
    text: "a value of the operator's file, or the beginning of a reply",
    longest: MB,
  },
  'packages/core/src/mime/': MESSAGE,
  'packages/core/src/returns/read/': {
    text: 'the text of a returned message, of which 64 KiB are read',
    longest: 64 * kB,
  },
  'packages/core/src/mime/address.ts': VALUE,
  'packages/core/src/platform/net/networks.ts': { text: 'a network address, cut or made by Node', longest: 64 },
  'packages/core/src/content/': { text: 'the content of a template', longest: 10 * MB },
  'packages/core/src/composition/links/': {
    text: 'a text of at most 1 MB that is read for links, or a token',
    longest: MB,
  },
  'packages/delivery/src/': REPLY,
  'packages/delivery/src/message/dkim.ts': {
    text: 'the signed header fields of a message, and the signature',
    longest: 512 * kB,
  },
  'packages/core/src/raw/': MAIL_HEAD,
  'packages/relay/src/': MAIL_HEAD,
  'packages/relay/src/smtp/command-stream.ts': { text: 'an SMTP command', longest: 16 * kB },
  'packages/relay/src/smtp/path.ts': { text: 'an SMTP command', longest: 16 * kB },
  'packages/relay/src/session/session-data.ts': { text: 'an SMTP command', longest: 16 * kB },
  'packages/sandbox/src/': MESSAGE,
  'packages/ui/src/': MESSAGE,
}

export function meetsOf(file: string): Meets | undefined {
  const [beginning] = Object.keys(MEETS)
    .filter((start) => file.startsWith(start))
    .sort((a, b) => b.length - a.length)
  return beginning === undefined ? undefined : MEETS[beginning]
}
