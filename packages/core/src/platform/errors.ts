import { type ErrorRow, row } from './error-row.ts'
import { PEOPLE_ERRORS } from './people-errors.ts'

export type { ErrorGroup, ErrorRow } from './error-row.ts'

/**
 * All client errors, with their v2, v3 and SMTP forms. A row contains only what a client may see; the reason for the log is
 * private and is kept in `ServiceError.reason`. docs/errors.md is generated from this table.
 *
 * v2 codes and groups: v2 contract section 3. SMTP codes: RFC 5321 4.2, enhanced codes: RFC 3463.
 */
export const ERRORS = {
  notFound: row(404, 'Method', 404, 'Path not found', 500, '5.5.1'),
  methodNotAllowed: row(405, 'Method', 405, 'Method not allowed', 502, '5.5.1'),
  httpMalformed: row(400, 'Method', 400, 'Malformed HTTP request', 500, '5.5.2'),
  requestTimeout: row(408, 'Method', 408, 'Timed out waiting for the request', 421, '4.4.2'),
  headerTooLarge: row(431, 'Method', 431, 'Request header is too large', 500, '5.5.2'),

  keyMissing: row(100, 'Validation', 401, 'api_key not passed in header', 530, '5.7.0', 'Authentication required'),
  keyInvalid: row(101, 'Validation', 401, 'Invalid api_key', 535, '5.7.8', 'Authentication credentials invalid'),
  addressNotAllowed: row(102, 'Validation', 403, 'Calls from this IP address are not allowed', 550, '5.7.1'),
  scopeMissing: row(
    103,
    'Validation',
    403,
    'This api_key does not have the scope required for this call',
    550,
    '5.7.1',
  ),
  keyRestricted: row(104, 'Validation', 403, 'This api_key is not allowed to {problem}', 550, '5.7.1'),
  rateLimited: row(
    429,
    'Validation',
    429,
    'Rate limit of {limit} {what} exceeded. Retry after {seconds} s',
    450,
    '4.7.1',
    'Rate limit exceeded, try again later',
  ),
  wrongKeysTooMany: row(
    429,
    'Validation',
    429,
    'Too many invalid api_keys from this IP address. Retry after {seconds} s',
    454,
    '4.7.0',
    'Temporary authentication failure',
  ),

  bodyBlank: row(110, 'Common', 400, 'Blank content passed in payload', 550, '5.6.0'),
  jsonInvalid: row(111, 'Common', 400, 'Invalid JSON format: {problem}', 550, '5.6.0', 'Invalid JSON format'),
  parameterMissing: row(113, 'Common', 400, 'Parameter [{parameter}] not passed', 550, '5.6.0'),
  parameterInvalid: row(113, 'Common', 400, 'Parameter [{parameter}] is invalid: {problem}', 550, '5.6.0'),
  tooLarge: row(121, 'Common', 413, 'Payload must not exceed {limit}', 552, '5.3.4'),
  tooCostly: row(121, 'Common', 413, 'Payload takes too long to process. Split it into several calls', 552, '5.3.4'),
  idempotencyConflict: row(
    122,
    'Common',
    409,
    'Idempotency-Key was already used with a different request',
    554,
    '5.5.0',
  ),

  senderInvalid: row(
    112,
    'SendEmail',
    400,
    'Invalid fromEmail, authentication failed: {problem}',
    550,
    '5.7.1',
    'Sender domain not active: {where}',
  ),
  recipientsMissing: row(
    114,
    'SendEmail',
    400,
    'Recipient list is empty, at least one recipient is required',
    554,
    '5.5.1',
  ),
  accountExpired: row(115, 'SendEmail', 403, 'Account has expired', 550, '5.7.1'),
  accountSuspended: row(115, 'SendEmail', 403, 'Account is suspended', 550, '5.7.1'),
  subjectMissing: row(116, 'SendEmail', 400, 'Subject not specified', 550, '5.6.0'),
  contentMissing: row(117, 'SendEmail', 400, 'Content not specified', 550, '5.6.0'),
  templateUnknown: row(118, 'SendEmail', 400, 'Invalid templateId', 550, '5.6.0'),
  attachmentUnknown: row(119, 'SendEmail', 400, 'Invalid attachmentId', 550, '5.6.0'),
  personalizationsNotArray: row(120, 'SendEmail', 400, 'Personalizations must be an array', 550, '5.6.0'),
  recipientsTooMany: row(
    123,
    'SendEmail',
    400,
    'Too many recipients: the limit is {limit} per call',
    452,
    '4.5.3',
    'Too many recipients: the limit is {limit} per transaction',
  ),

  domainInvalid: row(130, 'Domain', 400, 'Invalid domain name', 550, '5.6.0'),
  domainTaken: row(131, 'Domain', 400, 'Domain already added', 550, '5.6.0'),
  domainClaimsTooMany: row(
    133,
    'Domain',
    400,
    'Domain limit reached: an account can have at most {limit} unverified domains. Publish the DNS records of the domains you have added, or delete them',
    550,
    '5.6.0',
  ),
  domainUnknown: row(132, 'Domain', 400, 'Domain not found', 550, '5.6.0'),

  suppressionEmailInvalid: row(140, 'Suppression', 400, 'Invalid email address', 550, '5.6.0'),
  suppressionDomainInvalid: row(141, 'Suppression', 400, 'Invalid email domain', 550, '5.6.0'),
  suppressionImportRefused: row(
    142,
    'Suppression',
    400,
    'Import rejected: {wrong} of {rows} rows are invalid: {problems}',
    550,
    '5.6.0',
  ),
  groupUnknown: row(144, 'Suppression', 404, 'Group does not exist', 550, '5.6.0'),
  groupNameTaken: row(145, 'Suppression', 400, 'Group name is already used', 550, '5.6.0'),
  groupsTooMany: row(
    146,
    'Suppression',
    400,
    'Group limit reached: an account can have at most {limit} groups',
    550,
    '5.6.0',
  ),
  csvInvalid: row(143, 'Suppression', 400, 'Invalid CSV: {problem}', 550, '5.6.0'),

  templateIdInvalid: row(150, 'Template', 400, 'Invalid template id', 550, '5.6.0'),
  templateNameInvalid: row(151, 'Template', 400, 'Invalid template name', 550, '5.6.0'),
  templateBlank: row(152, 'Template', 400, 'Template content is blank', 550, '5.6.0'),
  templateTooLarge: row(153, 'Template', 400, 'Template size must be less than 10 MB', 550, '5.6.0'),
  templateNameTaken: row(154, 'Template', 400, 'Template name is already used', 550, '5.6.0'),
  templateVersionUnknown: row(155, 'Template', 400, 'Invalid template version', 550, '5.6.0'),
  templatesTooMany: row(
    157,
    'Template',
    400,
    'Template limit reached: an account can have at most {limit} templates',
    550,
    '5.6.0',
  ),
  templateVersionsTooMany: row(
    158,
    'Template',
    400,
    'Version limit reached: a template can have at most {limit} versions',
    550,
    '5.6.0',
  ),
  templatesFull: row(159, 'Template', 400, 'Template storage limit of {limit} exceeded', 550, '5.6.0'),
  attachmentsFull: row(156, 'Attachment', 400, 'Attachment storage limit of {limit} exceeded', 550, '5.6.0'),

  dateInvalid: row(160, 'Credit', 400, 'Start date and end date must be in yyyy-mm-dd format', 550, '5.6.0'),
  datesReversed: row(161, 'Credit', 400, 'Start date must be less than end date', 550, '5.6.0'),
  // 452: a queueing client keeps the mail until credits have been added.
  creditsExhausted: row(
    162,
    'Credit',
    402,
    'Not enough credits for this number of recipients. Add credits and send again',
    452,
    '4.7.1',
  ),

  messageUnknown: row(163, 'Events', 400, 'Invalid messageid', 550, '5.6.0'),
  deliveryUnknown: row(164, 'Events', 400, 'Invalid trid', 550, '5.6.0'),
  messageNotFound: row(165, 'Message', 404, 'Message not found', 550, '5.6.0'),
  messageBodyGone: row(166, 'Message', 410, 'The body of the message is no longer stored', 550, '5.6.0'),
  messageBodyUnreadable: row(167, 'Message', 410, 'The body of the message cannot be read: {problem}', 550, '5.6.0'),

  usernameInvalid: row(170, 'Subaccount', 400, 'Invalid username', 550, '5.6.0'),
  usernameTaken: row(171, 'Subaccount', 400, 'Username already used', 550, '5.6.0'),
  subaccountUnknown: row(172, 'Subaccount', 400, 'Subaccount does not exist', 550, '5.6.0'),
  subaccountEmailInvalid: row(173, 'Subaccount', 400, 'Invalid email', 550, '5.6.0'),
  passwordWeak: row(174, 'Subaccount', 400, 'Password does not meet the policy: {problem}', 550, '5.6.0'),
  creditInvalid: row(175, 'Subaccount', 400, 'Invalid credit value: {problem}', 550, '5.6.0'),
  subaccountNested: row(176, 'Subaccount', 403, 'A subaccount cannot have subaccounts', 550, '5.7.1'),
  forgetRequestUnknown: row(190, 'Privacy', 400, 'Invalid requestId', 550, '5.6.0'),

  keyUnknown: row(180, 'Key', 400, 'Invalid key id', 550, '5.6.0'),
  keysTooMany: row(181, 'Key', 400, 'Key limit reached: an account can have at most {limit} active keys', 550, '5.6.0'),

  batchUnknown: row(127, 'Common', 400, 'Invalid batch id', 550, '5.6.0'),
  poolUnknown: row(124, 'Common', 400, 'Invalid pool name', 550, '5.6.0'),
  batchHasState: row(128, 'Common', 400, 'The batch is already paused or cancelled', 550, '5.6.0'),
  batchesTooMany: row(
    129,
    'Common',
    400,
    'Batch limit reached: an account can have at most {limit} paused or cancelled batches',
    550,
    '5.6.0',
  ),
  exportDateInvalid: row(1104, 'Export', 400, 'Start date and end date must be in yyyy-mm-dd format', 550, '5.6.0'),
  exportDatesReversed: row(1105, 'Export', 400, 'Start date must not be after end date', 550, '5.6.0'),
  exportTargetMissing: row(1106, 'Export', 400, 'callbackUrl or email is required', 550, '5.6.0'),
  exportEmailInvalid: row(1107, 'Export', 400, 'Invalid email address', 550, '5.6.0'),
  exportNotCreated: row(1109, 'Export', 400, 'Export could not be created: {problem}', 550, '5.6.0'),
  exportUnreachable: row(1111, 'Export', 400, 'Callback URL is not reachable: {problem}', 550, '5.6.0'),
  exportUnknown: row(1112, 'Export', 400, 'Invalid jobId', 550, '5.6.0'),
  exportNotQueued: row(1113, 'Export', 400, 'Export cannot be deleted: it is not queued', 550, '5.6.0'),

  webhookUrlInvalid: row(200, 'Webhook', 400, 'Invalid url: {problem}', 550, '5.6.0'),
  webhookEventInvalid: row(201, 'Webhook', 400, 'Invalid event: {event}', 550, '5.6.0'),
  webhookUnknown: row(202, 'Webhook', 400, 'Invalid webhook id', 550, '5.6.0'),
  webhookUnanswered: row(203, 'Webhook', 400, 'URL check failed: {problem}', 550, '5.6.0'),
  webhooksTooMany: row(
    204,
    'Webhook',
    400,
    'Webhook limit reached: an account can have at most {limit} webhooks',
    550,
    '5.6.0',
  ),
  webhookFailureUnknown: row(205, 'Webhook', 400, 'Invalid failure id', 550, '5.6.0'),
  webhookReplayInvalid: row(206, 'Webhook', 400, 'No event with this number in the last {days} days', 550, '5.6.0'),

  lineEndingInvalid: row(
    124,
    'Common',
    400,
    'Message contains a bare CR or LF; lines must end with CRLF',
    550,
    '5.6.11',
  ),
  messageMalformed: row(125, 'Common', 400, 'Malformed message: {problem}', 550, '5.6.0'),
  mailLoop: row(126, 'Common', 400, 'Too many hops: the message has more than {limit} Received headers', 554, '5.4.6'),

  ...PEOPLE_ERRORS,

  overloaded: row(503, 'Service', 503, 'Service temporarily overloaded, try again later', 452, '4.3.1'),
  bodyStoreUnavailable: row(
    503,
    'Service',
    503,
    'Messages of this size cannot be stored or read at the moment, try again later',
    451,
    '4.3.0',
  ),
  notReady: row(503, 'Service', 503, 'Service temporarily unavailable, try again later', 451, '4.3.0'),
  internal: row(500, 'Service', 500, 'Internal error', 451, '4.3.0'),
} as const satisfies Record<string, ErrorRow>

export type ErrorName = keyof typeof ERRORS

export interface ServiceErrorDetails {
  /** Values for the `{…}` placeholders of the public text. */
  readonly values?: Readonly<Record<string, string | number>>
  /** The cause, for the log only. Never contains an address, a key or a body. */
  readonly reason?: string
  /** Seconds until the same call may succeed. */
  readonly retryAfter?: number
  readonly cause?: unknown
}

/** A client error: the request is invalid or not allowed, or cannot be served at present. Carries a row of the table. */
export class ServiceError extends Error {
  readonly row: ErrorRow
  readonly errorName: ErrorName
  /** Text of the SMTP reply, with its placeholders replaced. */
  readonly smtpText: string
  /** Values of the placeholders. */
  readonly values: NonNullable<ServiceErrorDetails['values']>
  readonly reason: string | undefined
  readonly retryAfter: number | undefined

  constructor(name: ErrorName, details: ServiceErrorDetails = {}) {
    super(
      fill(ERRORS[name].sentence, details.values),
      details.cause === undefined ? undefined : { cause: details.cause },
    )
    this.name = 'ServiceError'
    this.row = ERRORS[name]
    this.errorName = name
    this.values = details.values ?? {}
    const row: ErrorRow = ERRORS[name]
    this.smtpText = row.smtp[2] === undefined ? this.message : fill(row.smtp[2], details.values)
    this.reason = details.reason
    this.retryAfter = details.retryAfter
  }
}

function fill(sentence: string, values: ServiceErrorDetails['values']): string {
  if (!values) return sentence
  return sentence.replace(/\{(\w+)\}/g, (whole, key: string) => String(values[key] ?? whole))
}

/** Returns a parameterInvalid error. `problem` is a predicate that follows the parameter's name: "must be a string". */
export function invalidParameter(parameter: string, problem: string): ServiceError {
  return new ServiceError('parameterInvalid', { values: { parameter, problem } })
}
