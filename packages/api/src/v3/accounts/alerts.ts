import { type Operation, operation } from '../operation.ts'
import { refuses } from '../refusal.ts'

const ALL = '/alerts'
const common = { scope: 'account', section: '7.1' } as const
const NOTICES = { none: "owners get notices by mail, which 'account settings' turns off" }

/** There are no alerts to set up: the owners of an account get mail about what they have to see to. */
export const ALERTS: readonly Operation[] = [
  operation({
    name: 'listAlerts',
    summary: 'List the alerts, of which there are none',
    cli: NOTICES,
    ...common,
    method: 'GET',
    path: ALL,
    right: 'alerts.read',
    status: 200,
    act: async () => [],
  }),
  operation({
    name: 'createAlert',
    summary: 'Reject a new alert',
    cli: NOTICES,
    ...common,
    method: 'POST',
    path: ALL,
    right: 'alerts.create',
    status: 400,
    anyBody: true,
    act: refuses(400, 'Alerts are not set up here: the owners of the account get notices by mail.'),
  }),
]
