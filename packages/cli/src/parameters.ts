import type { Command } from './command.ts'

/** Descriptions of arguments and options (without dashes) for most of the commands that have them. */
export const PARAMETERS: Readonly<Record<string, string>> = {
  DOMAIN: 'Domain name, for example ship.example',
  EMAIL: 'Email address of the user',
  FILE: 'Path of the file',
  PLACE: 'Mailbox provider, or the domain of a site; "postrider queue" lists them',
  POOL: 'Name of the pool',
  account: 'Number of the account; "postrider account list" lists them',
  address: 'IPv4 address to send from',
  all: 'Select the whole queue',
  'bounce-class': 'Only mail that bounced for this reason, for example mailbox-full',
  class: 'Class of mail: urgent, normal or bulk',
  confirm: 'Execute the plan with this number',
  days: 'Number of days (default 14, maximum 90)',
  domain: "Recipients' domain",
  email: 'Email address',
  for: 'Duration, for example 30m, 24h or 7d',
  from: 'Address of the sender',
  group: 'Number of the unsubscribe group',
  key: 'API key; "-" reads it from stdin',
  limit: 'Maximum number of rows (default 50, maximum 1000)',
  name: 'Name',
  older: 'Only mail accepted longer ago than this duration, for example 6h',
  place: 'Mailbox provider, or the domain of a site',
  pool: 'Name of the pool',
  reason: 'Text that is shown with it and in the audit log',
  recipient: 'Only the delivery to this address',
  since: 'Only from this ISO 8601 time on',
  state: 'Only in this state',
  tag: 'Only mail with this tag',
  until: 'Only before this ISO 8601 time',
  yes: 'Do not ask for confirmation',
}

/** Returns the description of an argument or option of a command for its help, if there is one. */
export function parameterText({ parameters }: Command, name: string): string | undefined {
  return parameters?.[name] ?? PARAMETERS[name]
}
