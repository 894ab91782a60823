import { type Operation, operation } from '../operation.ts'
import { refuses } from '../refusal.ts'

const ALL = '/user/webhooks/parse/settings'
const common = { scope: 'webhooks', section: '7.1', path: ALL } as const
const NO_COMMAND = { none: 'the service does not receive mail for accounts' }

/** Mail to the domains of accounts is not received here, so there are no hosts whose mail would be posted. */
export const PARSE_SETTINGS: readonly Operation[] = [
  operation({
    name: 'listParseSettings',
    summary: 'List the hosts whose incoming mail is posted to a URL, of which there are none',
    cli: NO_COMMAND,
    ...common,
    method: 'GET',
    right: 'user.webhooks.parse.settings.read',
    status: 200,
    act: async () => ({ result: [] }),
  }),
  operation({
    name: 'createParseSetting',
    summary: 'Reject a host whose incoming mail is to be posted to a URL',
    cli: NO_COMMAND,
    ...common,
    method: 'POST',
    right: 'user.webhooks.parse.settings.create',
    status: 400,
    anyBody: true,
    act: refuses(400, 'Incoming mail is not received and parsed by this service.'),
  }),
]
