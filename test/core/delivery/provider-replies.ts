/** A refusal that each built-in rule fits, as its provider words it: by the rule's id, the host that sent it and the reply. */
export const PROVIDER_REPLIES: Readonly<Record<string, readonly [host: string, ...replies: string[]]>> = {
  'google-authentication': [
    'gmail-smtp-in.l.google.com',
    '550-5.7.26 Your email has been blocked because the sender is unauthenticated.\r\n550 5.7.26 Gmail requires all senders to ' +
      'authenticate with either SPF or DKIM. - gsmtp',
    "421-4.7.27 Your email has been rate limited because SPF authentication didn't\r\n421 4.7.27 pass for this message. - gsmtp",
    '421 4.7.26 This mail has been rate limited because it is unauthenticated. - gsmtp',
  ],
  'google-volume': [
    'aspmx.l.google.com',
    '421-4.7.28 Gmail has detected an unusual rate of unsolicited mail originating from\r\n421 4.7.28 your IP address. - gsmtp',
    '421 4.7.28 Gmail has detected this message exceeded its quota for sending messages with the same Message-ID.',
  ],
  'google-unusual-rate': [
    'alt1.gmail-smtp-in.l.google.com',
    '421-4.7.0 [192.0.2.1      15] Our system has detected an unusual rate of\r\n421 4.7.0 unsolicited mail originating from your IP address. - gsmtp',
  ],
  'google-this-message': [
    'aspmx2.googlemail.com',
    '550-5.7.1 [192.0.2.1      12] Our system has detected that this message is\r\n550 5.7.1 likely unsolicited mail. - gsmtp',
    '421-4.7.0 [192.0.2.1      15] Gmail has detected that this message is\r\n421 4.7.0 suspicious due to the very low reputation ' +
      'of the sending IP address. - gsmtp',
  ],
  'yahoo-ts02': [
    'mta5.am0.yahoodns.net',
    '421 4.7.1 [TS02] Messages from 192.0.2.1 temporarily deferred; see https://postmaster.yahooinc.com/error-codes',
  ],
  'yahoo-ts03': [
    'mta6.am0.yahoodns.net',
    '421 4.7.1 [TS03] All messages from 192.0.2.1 will be permanently deferred; Retrying will NOT succeed.',
  ],
  'yahoo-tss04': [
    'mta7.am0.yahoodns.net',
    '421 4.7.0 [TSS04] Messages from 192.0.2.1 temporarily deferred due to unexpected volume or user complaints - 4.16.55.1;',
  ],
  'yahoo-tss05': [
    'mta5.am0.yahoodns.net',
    '421 4.7.0 [TSS05] Messages from 192.0.2.1 temporarily deferred due to user complaints',
  ],
  'yahoo-ipts04': [
    'mta5.am0.yahoodns.net',
    '421 [IPTS04] Messages from 192.0.2.1 temporarily deferred due to user complaints - 4.16.55.1;',
  ],
  'yahoo-ipts05': ['mta5.am0.yahoodns.net', '421 [IPTS05] Messages from 192.0.2.1 temporarily deferred'],
  'yahoo-block-list': [
    'mta5.am0.yahoodns.net',
    "553 5.7.1 [BL21] Connections will not be accepted from 192.0.2.1, because the ip is in Spamhaus's list; see http://postmaster.yahoo.com/550-bl23.html",
  ],
  'yahoo-messages-per-connection': [
    'mta5.am0.yahoodns.net',
    '421 Max message per connection reached, closing transmission channel',
  ],
  'yahoo-jp-not-allowed': ['mx1.mail.yahoo.co.jp', '553 Mail from 192.0.2.1 not allowed - VS98-IP0 deferred'],
  'yahoo-jp-ts04': [
    'mx3.mail.yahoo.co.jp',
    '421 [TSS04] Messages from 192.0.2.1 temporarily deferred due to unexpected volume or user complaints',
    '421 [IPTS04] Messages from 192.0.2.1 temporarily deferred due to unexpected volume or user complaints',
  ],
  ...microsoft('outlook', 'hotmail-com.olc.protection.outlook.com'),
  ...microsoft('office365', 'harbor-example.mail.protection.outlook.com'),
  'apple-bs02': ['mx01.mail.icloud.com', '451 [BS02] Temporary server error. Please try again later.'],
  'apple-unavailable': ['mx02.mail.icloud.com', '450 4.7.1 Service unavailable - try again later'],
  'apple-hcm1': [
    'mx01.mail.icloud.com',
    '421 [HCM1] Your mail from 192.0.2.1 was deferred. Please see https://support.apple.com/kb/HT204137',
  ],
  'apple-domain-listed': [
    'mx01.mail.icloud.com',
    '554 5.7.1 Your email was rejected due to having a domain present in the Spamhaus DBL -- see https://www.spamhaus.org/dbl/',
  ],
  'comcast-domain-limit': [
    'mx1a1.comcast.net',
    '421 4.1.0 192.0.2.1 Throttled - try again later. Please see https://spa.xfinity.com/report#RL000010',
  ],
  'comcast-limit': [
    'mx2h1.comcast.net',
    '421 4.1.0 192.0.2.1 Throttled - try again later. Please see https://spa.xfinity.com/report#RL000002',
  ],
  'mimecast-unavailable': [
    'eu-smtp-inbound-1.mimecast.com',
    '451 Internal resource temporarily unavailable - https://community.mimecast.com/docs/DOC-1369#451 [abc]',
  ],
  'orange-connections': [
    'smtp-in.orange.fr',
    '421 mwinf5c04 ME Trop de connexions, veuillez verifier votre configuration. Too many connections, slow down. OFR004_104 [104]',
  ],
  'orange-refused': [
    'smtp-in.orange.fr',
    '421 mwinf5c04 ME Service refuse. Veuillez essayer plus tard. Service refused, please try later. OFR_999 [999]',
  ],
  'orange-blocked': [
    'smtp-in.orange.fr',
    '550 5.7.1 Client host blocked for spamming issues. OFR006_102 Ref http://csi.cloudmark.com/reset-request/?ip=192.0.2.1 [102]',
    '550 5.7.1 Client host blocked for spamming issues. OFR006_104 Ref http://www.spamhaus.org/query/bl?ip=192.0.2.1 [104]',
  ],
  'gmx-connections': [
    'mx00.emig.gmx.net',
    '421 gmx.net (mxgmx015) Nemesis ESMTP Service not available. Too many connections',
  ],
  'gmx-policy-violations': [
    'mx-ha02.web.de',
    '554-Transaction failed\r\n554-Reject due to policy violations.\r\n554 For explanation visit https://postmaster.web.de/en/case?c=r0601',
  ],
  'gmx-policy-restrictions': [
    'mx01.emig.gmx.net',
    '554-Transaction failed\r\n554-Reject due to policy restrictions.\r\n554 For explanation visit https://postmaster.gmx.net/en/case?c=hi&i=ip',
  ],
  'qq-frequency': [
    'mx3.qq.com',
    '550 Ip frequency limited [abc IP: 192.0.2.1]. https://open.work.weixin.qq.com/help2/',
  ],
  'qq-content': ['mxbiz1.qq.com', '550 Mail content denied. http://service.mail.qq.com/detail/122/171'],
  'netease-connections': ['163mx01.mxmail.netease.com', '421 Too many connections'],
  'netease-daily-limit': [
    '163mx02.mxmail.netease.com',
    '550 RP:ORQ 163 mx5,abc,123 http://mail.163.com/help/help_spam_16.htm?ip=192.0.2.1',
    '554 HL:ITC 163 mx5,abc,123 http://mail.163.com/help/help_spam_16.htm?ip=192.0.2.1',
  ],
  'netease-spam': [
    '126mx01.mxmail.netease.com',
    '554 DT:SPM 126 mx5,abc,123 http://mail.163.com/help/help_spam_16.htm',
  ],
  'netvigator-messages-per-connection': ['mx.netvigator.com', '421 4.7.0 Too many messages for this session'],
  'laposte-connections': [
    'smtpz4.laposte.net',
    '421 4.5.0 Trop de connexions, veuillez verifier votre configuration. Too many connections, slow down. LPN105_104',
  ],
  'laposte-refused': [
    'smtpz4.laposte.net',
    '450 4.7.1 Client host rejected: Service refuse. Veuillez essayer plus tard. service refused, please try later. LPN027_503',
  ],
  'sfr-blocked': [
    'smtp-in.sfr.fr',
    '450 4.7.1 Client host rejected: Service refused due to bad behavior. SFR_IN_101',
    '550 5.7.1 <mx.ship.example[192.0.2.1]>: Client host rejected: Abus detecte GU_EIB_04',
  ],
  'free-blocked': [
    'mx1.free.fr',
    '421 Too many spams from your IP (192.0.2.1), please visit http://postmaster.free.fr/',
    '451 too many errors from your ip (192.0.2.1), please visit http://postmaster.free.fr/',
  ],
  'free-connections': ['mx2.free.fr', '421 Server busy - too many connections from your IP'],
  't-online-refused': [
    'mx03.t-online.de',
    '554 IP=192.0.2.1 - A problem occurred. (Ask your postmaster for help or to contact tosa@rx.t-online.de to clarify.) (BL)',
    '554 IP=192.0.2.1 - None/bad reputation. Ask your postmaster for help or to contact tobr@rx.t-online.de for reset. (NOWL)',
  ],
  'libero-connections': ['smtp-in.libero.it', '421 #4.4.5 Too many connections to this listener.'],
  'libero-listed': [
    'smtp-in.virgilio.it',
    '550 smtp-10.iol.local smtp-10.iol.local IP blacklisted by CSI. For remediation please use http://csi.cloudmark.com/reset-request/',
  ],
  'mailru-spam': [
    'mxs.mail.ru',
    '550 spam message rejected. Please visit http://help.mail.ru/notspam-support/id?c=7y4y or report details to abuse@corp.mail.ru.',
    '550 spam message discarded. If you think that the system is mistaken, please report details to abuse@corp.mail.ru',
  ],
  'yandex-blocked': [
    'mx.yandex.ru',
    '554 Blocked by spam statistics - see http://feedback.yandex.ru/?from=mail-rejects&subject=192.0.2.1',
  ],
  'yandex-spam': ['mx.yandex.ru', '554 5.7.1 [1] Message rejected under suspicion of SPAM; https://ya.cc/1IrBc ##'],
  'sandbox-tss04': [
    'throttling.test',
    '421 4.7.0 [TSS04] Messages from this address are temporarily deferred due to unexpected volume',
  ],
  'domain-listed': [
    'mx.harbor.example',
    '554 5.7.1 Service unavailable; Sender address [desk@ship.example] blocked using dbl.spamhaus.org',
  ],
  'address-listed': [
    'mx.harbor.example',
    '554 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using zen.spamhaus.org',
    '550 Blocked by Barracuda Reputation; http://www.barracudanetworks.com/reputation/?ip=192.0.2.1',
    '550 5.7.1 Client host [192.0.2.1] blocked using bl.spamcop.net',
  ],
  'generic-busy': [
    'mx.harbor.example',
    '421 4.7.0 Messages from 192.0.2.1 temporarily deferred',
    '451 4.7.500 Server busy. Please try again later from [192.0.2.1]. (S77714)',
  ],
}

function microsoft(name: string, host: string): Record<string, readonly [string, ...string[]]> {
  return {
    [`${name}-authentication`]: [
      host,
      '550 5.7.515 Access denied, sending domain ship.example does not meet the required authentication level.',
    ],
    [`${name}-block-list`]: [
      host,
      "550 5.7.1 Unfortunately, messages from [192.0.2.1] weren't sent. Please contact your Internet service provider since part " +
        'of their network is on our block list (S3140).',
    ],
    [`${name}-rate-limited`]: [
      host,
      '451 4.7.650 The mail server [192.0.2.1] has been temporarily rate limited due to IP reputation. (S775)',
    ],
    [`${name}-connections`]: [
      host,
      '421 4.7.0 The mail server [192.0.2.1] has exceeded the maximum number of connections.',
      '421 4.7.0 Connection refused from [192.0.2.1] due to exceed max concurrent connections. IB007',
    ],
    [`${name}-messages-per-connection`]: [
      host,
      '451 4.7.652 The mail server [192.0.2.1] has exceeded the maximum number of messages per connection. (S844)',
      '451 4.7.652 The mail server [192.0.2.1] has exceeded maximum number of messages per connection.',
    ],
    [`${name}-busy`]: [host, '451 4.7.500 Server busy. Please try again later from [192.0.2.1]. (AS77713)'],
    [`${name}-access-denied`]: [host, '451 4.7.550 Access denied, please try again later'],
    [`${name}-temporary-error`]: [host, '451 4.7.0 Temporary server error. Please try again later. PRX5'],
  }
}
