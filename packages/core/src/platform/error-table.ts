import { type ErrorRow, errorsOf, V3_FORBIDDEN, V3_MISSING, V3_PARAMETER, V3_RESTRICTED } from './error-row.ts'
import { RARER_ERRORS } from './error-table-rarer.ts'

/**
 * All client errors, with their v2, v3 and SMTP forms. A row contains only what a client may see; the reason for the log is
 * private and is kept in `ServiceError.reason`. docs/errors.md is generated from this table.
 * v2 codes and groups: v2 contract section 3. v3 texts: v3 contract 1.4. SMTP codes: RFC 5321 4.2, enhanced codes: RFC 3463.
 */
export const ERRORS = {
  ...errorsOf('Method', {
    notFound: { v2: 404, status: 404, sentence: 'Path not found', smtp: '500 5.5.1', v3: V3_MISSING },
    methodNotAllowed: {
      v2: 405,
      status: 405,
      sentence: 'Method not allowed',
      smtp: '502 5.5.1',
      v3: { message: 'method not allowed', whereSent: 'POST method allowed only' },
    },
    httpMalformed: { v2: 400, sentence: 'Malformed HTTP request', smtp: '500 5.5.2' },
    requestTimeout: { v2: 408, status: 408, sentence: 'Timed out waiting for the request', smtp: '421 4.4.2' },
    headerTooLarge: { v2: 431, status: 431, sentence: 'Request header is too large', smtp: '500 5.5.2' },
  }),
  ...errorsOf('Validation', {
    keyMissing: {
      v2: 100,
      status: 401,
      sentence: 'api_key not passed in header',
      smtp: '530 5.7.0',
      smtpSentence: 'Authentication required',
      v3: { message: 'authorization required', whereSent: 'Permission denied, wrong credentials' },
    },
    keyInvalid: {
      v2: 101,
      status: 401,
      sentence: 'Invalid api_key',
      smtp: '535 5.7.8',
      smtpSentence: 'Authentication credentials invalid',
      v3: {
        message: 'authorization required',
        whereSent: 'The provided authorization grant is invalid, expired, or revoked',
      },
    },
    addressNotAllowed: {
      v2: 102,
      status: 403,
      sentence: 'Calls from this IP address are not allowed',
      smtp: '550 5.7.1',
    },
    scopeMissing: {
      v2: 103,
      status: 403,
      sentence: 'This api_key does not have the scope required for this call',
      smtp: '550 5.7.1',
      v3: { ...V3_FORBIDDEN, whereSent: 'Authenticated user is not authorized to send mail' },
    },
    keyRestricted: {
      v2: 104,
      status: 403,
      sentence: 'This api_key is not allowed to {problem}',
      smtp: '550 5.7.1',
      v3: V3_RESTRICTED,
    },
    rateLimited: {
      v2: 429,
      status: 429,
      sentence: 'Rate limit of {limit} {what} exceeded. Retry after {seconds} s',
      smtp: '450 4.7.1',
      v3: { message: 'too many requests' },
    },
    wrongKeysTooMany: {
      v2: 429,
      status: 429,
      sentence: 'Too many invalid api_keys from this IP address. Retry after {seconds} s',
      smtp: '454 4.7.0',
      smtpSentence: 'Temporary authentication failure',
      v3: { message: 'too many requests' },
    },
  }),
  ...errorsOf('Common', {
    bodyBlank: { v2: 110, sentence: 'Blank content passed in payload', v3: { message: 'Bad Request' } },
    jsonInvalid: {
      v2: 111,
      sentence: 'Invalid JSON format: {problem}',
      smtp: '550 5.6.0',
      smtpSentence: 'Invalid JSON format',
      v3: { message: 'Bad Request' },
    },
    parameterMissing: { v2: 113, sentence: 'Parameter [{parameter}] not passed', v3: V3_PARAMETER.missing },
    parameterInvalid: {
      v2: 113,
      sentence: 'Parameter [{parameter}] is invalid: {problem}',
      v3: V3_PARAMETER.invalid,
    },
    tooLarge: {
      v2: 121,
      status: 413,
      sentence: 'Payload must not exceed {limit}',
      smtp: '552 5.3.4',
      v3: { message: 'The request body is too large. Messages are limited to 30 MB.' },
    },
    tooCostly: {
      v2: 121,
      status: 413,
      sentence: 'Payload takes too long to process. Split it into several calls',
      smtp: '552 5.3.4',
    },
    idempotencyConflict: {
      v2: 122,
      status: 409,
      sentence: 'Idempotency-Key was already used with a different request',
      smtp: '554 5.5.0',
    },
    batchUnknown: { v2: 127, sentence: 'Invalid batch id' },
    poolUnknown: { v2: 124, sentence: 'Invalid pool name' },
    batchHasState: { v2: 128, sentence: 'The batch is already paused or cancelled' },
    batchesTooMany: {
      v2: 129,
      sentence: 'Batch limit reached: an account can have at most {limit} paused or cancelled batches',
    },
    lineEndingInvalid: {
      v2: 124,
      sentence: 'Message contains a bare CR or LF; lines must end with CRLF',
      smtp: '550 5.6.11',
    },
    messageMalformed: { v2: 125, sentence: 'Malformed message: {problem}' },
    mailLoop: {
      v2: 126,
      sentence: 'Too many hops: the message has more than {limit} Received headers',
      smtp: '554 5.4.6',
    },
  }),
  ...errorsOf('SendEmail', {
    senderInvalid: {
      v2: 112,
      sentence: 'Invalid fromEmail, authentication failed: {problem}',
      smtp: '550 5.7.1',
      smtpSentence: 'Sender domain not active: {where}',
    },
    recipientsMissing: {
      v2: 114,
      sentence: 'Recipient list is empty, at least one recipient is required',
      smtp: '554 5.5.1',
    },
    accountExpired: { v2: 115, status: 403, sentence: 'Account has expired', smtp: '550 5.7.1', v3: { status: 401 } },
    accountSuspended: { v2: 115, status: 403, sentence: 'Account is suspended', smtp: '550 5.7.1' },
    accountClosed: { v2: 115, status: 403, sentence: 'Account is closed', smtp: '550 5.7.1' },
    subjectMissing: { v2: 116, sentence: 'Subject not specified' },
    contentMissing: { v2: 117, sentence: 'Content not specified' },
    templateUnknown: { v2: 118, sentence: 'Invalid templateId' },
    attachmentUnknown: { v2: 119, sentence: 'Invalid attachmentId' },
    personalizationsNotArray: { v2: 120, sentence: 'Personalizations must be an array' },
    recipientsTooMany: {
      v2: 123,
      sentence: 'Too many recipients: the limit is {limit} per call',
      smtp: '452 4.5.3',
      smtpSentence: 'Too many recipients: the limit is {limit} per transaction',
    },
  }),
  ...errorsOf('Domain', {
    domainInvalid: { v2: 130, sentence: 'Invalid domain name' },
    domainTaken: { v2: 131, sentence: 'Domain already added' },
    domainClaimsTooMany: {
      v2: 133,
      sentence:
        'Domain limit reached: an account can have at most {limit} unverified domains. Publish the DNS records of the domains you have added, or delete them',
    },
    domainUnknown: { v2: 132, sentence: 'Domain not found' },
  }),
  ...errorsOf('Suppression', {
    suppressionEmailInvalid: { v2: 140, sentence: 'Invalid email address' },
    suppressionDomainInvalid: { v2: 141, sentence: 'Invalid email domain' },
    suppressionImportRefused: { v2: 142, sentence: 'Import rejected: {wrong} of {rows} rows are invalid: {problems}' },
    groupUnknown: { v2: 144, status: 404, sentence: 'Group does not exist', v3: V3_MISSING },
    groupNameTaken: {
      v2: 145,
      sentence: 'Group name is already used',
      v3: { message: 'Sorry, some unexpected error occurred: Failed to add group' },
    },
    groupsTooMany: { v2: 146, sentence: 'Group limit reached: an account can have at most {limit} groups' },
    csvInvalid: { v2: 143, sentence: 'Invalid CSV: {problem}' },
  }),
  ...errorsOf('Template', {
    templateIdInvalid: { v2: 150, sentence: 'Invalid template id', v3: V3_MISSING },
    templateNameInvalid: { v2: 151, sentence: 'Invalid template name' },
    templateBlank: { v2: 152, sentence: 'Template content is blank' },
    templateTooLarge: { v2: 153, sentence: 'Template size must be less than 10 MB' },
    templateNameTaken: { v2: 154, sentence: 'Template name is already used' },
    templateVersionUnknown: { v2: 155, sentence: 'Invalid template version', v3: V3_MISSING },
    templatesTooMany: { v2: 157, sentence: 'Template limit reached: an account can have at most {limit} templates' },
    templateVersionsTooMany: {
      v2: 158,
      sentence: 'Version limit reached: a template can have at most {limit} versions',
    },
    templatesFull: { v2: 159, sentence: 'Template storage limit of {limit} exceeded' },
  }),
  ...errorsOf('Attachment', {
    attachmentsFull: { v2: 156, sentence: 'Attachment storage limit of {limit} exceeded' },
  }),
  ...errorsOf('Credit', {
    dateInvalid: { v2: 160, sentence: 'Start date and end date must be in yyyy-mm-dd format' },
    datesReversed: { v2: 161, sentence: 'Start date must be less than end date' },
    // 452: a queueing client keeps the mail until credits have been added.
    creditsExhausted: {
      v2: 162,
      status: 402,
      sentence: 'Not enough credits for this number of recipients. Add credits and send again',
      smtp: '452 4.7.1',
      v3: { status: 401, message: 'Maximum credits exceeded' },
    },
  }),
  ...errorsOf('Events', {
    messageUnknown: { v2: 163, sentence: 'Invalid messageid' },
    deliveryUnknown: { v2: 164, sentence: 'Invalid trid' },
  }),
  ...errorsOf('Message', {
    messageNotFound: { v2: 165, status: 404, sentence: 'Message not found' },
    messageBodyGone: { v2: 166, status: 410, sentence: 'The body of the message is no longer stored' },
    messageBodyUnreadable: { v2: 167, status: 410, sentence: 'The body of the message cannot be read: {problem}' },
    messageDue: { v2: 168, status: 409, sentence: 'No delivery of the message waits for a scheduled time' },
  }),
  ...errorsOf('Subaccount', {
    usernameInvalid: { v2: 170, sentence: 'Invalid username' },
    usernameTaken: { v2: 171, sentence: 'Username already used' },
    subaccountUnknown: { v2: 172, sentence: 'Subaccount does not exist', v3: V3_FORBIDDEN },
    subaccountEmailInvalid: { v2: 173, sentence: 'Invalid email' },
    passwordWeak: { v2: 174, sentence: 'Password does not meet the policy: {problem}' },
    creditInvalid: { v2: 175, sentence: 'Invalid credit value: {problem}' },
    subaccountNested: {
      v2: 176,
      status: 403,
      sentence: 'A subaccount cannot have subaccounts',
      smtp: '550 5.7.1',
      v3: V3_FORBIDDEN,
    },
  }),
  ...errorsOf('Privacy', {
    forgetRequestUnknown: { v2: 190, sentence: 'Invalid requestId' },
  }),
  ...errorsOf('Key', {
    keyUnknown: { v2: 180, sentence: 'Invalid key id', v3: { status: 404, message: 'unable to find API Key' } },
    keysTooMany: { v2: 181, sentence: 'Key limit reached: an account can have at most {limit} active keys' },
  }),
  ...RARER_ERRORS,
  ...errorsOf('Service', {
    overloaded: {
      v2: 503,
      status: 503,
      sentence: 'Service temporarily overloaded, try again later',
      smtp: '452 4.3.1',
    },
    bodyStoreUnavailable: {
      v2: 503,
      status: 503,
      sentence: 'Messages of this size cannot be stored or read at the moment, try again later',
      smtp: '451 4.3.0',
    },
    notReady: { v2: 503, status: 503, sentence: 'Service temporarily unavailable, try again later', smtp: '451 4.3.0' },
    outcomeUnknown: { v2: 504, status: 504, sentence: 'Outcome unknown: look before you repeat it', smtp: '451 4.3.0' },
    internal: {
      v2: 500,
      status: 500,
      sentence: 'Internal error',
      smtp: '451 4.3.0',
      v3: { message: 'internal server error' },
    },
  }),
} as const satisfies Record<string, ErrorRow>
