import type { Sourced } from './sourced.ts'

/** Filters and lists that stand before many domains refuse the sender. */
export const OF_FILTERS: readonly Sourced[] = [
  {
    source: 'Proofpoint: github.com/Mailu/Mailu/issues/1458, github.com/zone-eu/zone-mta/issues/301 of 2022-02-11',
    replies: [
      ['spam', '554 Blocked - see https://ipcheck.proofpoint.com/?ip=192.0.2.1'],
      ['spam', '554 5.7.0 Blocked - see https://support.proofpoint.com/dnsbl-lookup.cgi?ip=192.0.2.1'],
    ],
  },
  {
    source:
      'Mimecast: smtp-field-manual 550.json, 554.json; zone-mta bounces.txt; sisimai Rhost/Mimecast.pm at 05b2d68',
    replies: [
      [
        'policy',
        '550 Administrative prohibition - envelope blocked - https://community.mimecast.com/docs/DOC-1369#550 [q]',
      ],
      [
        'policy',
        '550 Rejected by header based Anti-Spoofing policy: desk@ship.example - https://community.mimecast.com/docs/DOC-1369#550 [q]',
      ],
      ['policy', '550 Anti-Spoofing policy - Inbound not allowed'],
      ['policy', '550 Rejected by header based manually Blocked Senders: desk@ship.example'],
      ['policy', '550 Envelope rejected - Block policy for envelope from address'],
      ['filtered', '550 Envelope blocked - User Entry - https://community.mimecast.com/docs/DOC-1369#550 [q]'],
      ['filtered', '550 Envelope blocked - User Domain Entry'],
      ['spam', '550 csi.mimecast.org Poor Reputation Sender. - https://community.mimecast.com/docs/DOC-1369#550 [q]'],
      ['spam', '550 Local CT IP Reputation - (reject)'],
      ['spam', '451 IP temporarily blacklisted'],
      ['policy', '554 Email rejected due to security policies - https://community.mimecast.com/docs/DOC-1369#554 [q]'],
      ['policy', '550 Message bounced due to Content Examination Policy'],
      ['policy', '554 Host network not allowed'],
      ['authentication', '550 SPF Sender Invalid - envelope rejected'],
      ['authentication', '550 DMARC Sender Invalid - envelope rejected'],
      ['policy', '421 Sender address blocked'],
    ],
  },
  {
    source:
      'Barracuda: github.com/thunderbird/mailstrom/issues/162 of 2025-12-05; zone-mta bounces.txt; smtp-field-manual 550.json, 554.json',
    replies: [
      [
        'spam',
        '550 Service unavailable; Client host [mx.ship.example] blocked using Barracuda Reputation; http://www.barracudanetworks.com/reputation/',
      ],
      ['spam', '550 permanent failure for one or more recipients (lena@harbor.example:blocked)'],
      ['spam', '550 Blocked'],
      ['policy', '550 rejecting spoofed message'],
      ['spam', '554 rejected due to spam URL in content'],
      ['spam', '554 rejecting banned content'],
    ],
  },
  {
    source:
      'Cisco: Mailu issue 1458 of 2020-04-21; zone-mta bounces.txt; github.com/sisimai/p5-sisimai/issues/469 of 2022-10-27',
    replies: [
      [
        'spam',
        '554-mx.harbor.example\r\n554 As a measure to protect our email infrastructure, this connection is being blocked.',
      ],
      [
        'spam',
        "554-mx.harbor.example\r\n554 Your access to this mail system has been rejected due to the sending MTA's poor reputation.",
      ],
      ['spam', '550 #5.7.1 Your access to submit messages to this e-mail system has been rejected.'],
      ['spam', '554 IP address 192.0.2.1 rejected [IP reputation fail]'],
      ['policy', '554 5.7.1 You are not allowed to connect'],
    ],
  },
  {
    source:
      'Symantec and Trend Micro: smtp-field-manual 553.json, 554.json; github.com/thunderbird/mailstrom/issues/197 of 2026-03-11; zone-mta#251',
    replies: [
      [
        'spam',
        '553 Message filtered. Refer to the Troubleshooting page at http://www.symanteccloud.com/troubleshooting for more information.',
      ],
      ['policy', '500 5.7.1 Symantec Zodiac'],
      ['policy', '554 5.7.1 <lena@harbor.example>: Recipient address rejected: BLOCK-SEND-ER.'],
      [
        'spam',
        '554 <lena@harbor.example>: Recipient address rejected: Mail from <192.0.2.1> was refused due to the sender IP found in ERS-DUL.',
      ],
    ],
  },
  {
    source: 'Vade: github.com/ietf-tools/datatracker/issues/10296 of 2026-01-21',
    replies: [['spam', '550 5.7.1 - IP 192.0.2.1 blocked by Vade Threat List (OXSUS001_101)']],
  },
  {
    source: 'Block lists: github.com/zone-eu/zone-mta config/bounces.txt at 0009aaf',
    replies: [
      ['spam', '550 192.0.2.1 blacklisted see http://www.spamhaus.org/query/bl?ip=192.0.2.1'],
      [
        'spam',
        '550 5.2.1 Mailbox unavailable. Your IP address 192.0.2.1 is blacklisted using SPAMHAUS-XBL. Details: https://www.spamhaus.org/',
      ],
      ['spam', '550 5.7.0 Your server IP address is in the SpamHaus SBL-XBL database, bye'],
      ['spam', '550 5.7.1 The IP address was rejected by the Realtime Block List provider'],
      [
        'spam',
        '550 This system is configured to reject mail from mx.ship.example. Connecting host [192.0.2.1] is listed by the lookup site',
      ],
      ['spam', '550 Your IP address is listed by https://lists.harbor.example/zen, correct this'],
      ['spam', '553 5.3.0 192.0.2.1 Rejected - see http://www.spamhaus.org'],
      ['policy', '553 5.3.0 <lena@harbor.example>... Mail from 192.0.2.1 rejected,see http://www.spamhaus.org/lookup/'],
      ['spam', '554 Denied [SHXBL] - Denied by Spamhaus XBL'],
      ['spam', '554 Refused. Your IP address is listed in the RBL at xbl.harbor.example'],
      ['spam', '550 Rejected: 192.0.2.1 is listed at work.drbl.harbor.example'],
      ['spam', '550 Rejected due to DNSBL server response (dnsbl.cobion.com - 192.0.2.1)'],
      ['spam', '550 Rejected 192.0.2.1 found in dnsbl.sorbs.net'],
      [
        'spam',
        '554 Connection from 192.0.2.1 rejected for policy reasons. Host found in DNS blacklist at dnsbl.sorbs.net',
      ],
      [
        'spam',
        '450 Requested action not taken:c1mx2, IwENCgC3+s5MYEpYXlIcAA--.4588S3, dnsbl.sorbs.net, please try again',
      ],
      [
        'spam',
        '554 5.5.4 Your IP 192.0.2.1 address has a bad reputation. To unblock visit http://cloud-security.net/unblock',
      ],
      [
        'spam',
        '550 The sending IP (192.0.2.1) is listed on https://lists.harbor.example/. Please resolve this and retry.',
      ],
      [
        'spam',
        '550-"JunkMail rejected - mx.ship.example [192.0.2.1]:39153 is in an RBL on\r\n550 lists.harbor.example, see Poor Reputation Sender"',
      ],
      [
        'spam',
        '553 5.7.1 <mx.ship.example[192.0.2.1]>: Client host rejected: Relaying denied - Your IP identified as spammer.',
      ],
      ['spam', '554 5.7.1 Rejected because Bad IP'],
      ['filtered', '550-Your message was rejected by this user and was not delivered\r\n550 -  mips space'],
      ['spam', '550 5.7.1 <desk@ship.example>... 192.0.2.1 listed at zen.spamhaus.org'],
      [
        'spam',
        '550 5.1.1 <lena@harbor.example>: Recipient address rejected: Client host 192.0.2.1 is blacklisted by dnsbl.sorbs.net',
      ],
      [
        'spam',
        '554 5.7.1 <lena@harbor.example>: Recipient address rejected: https://www.spamhaus.org/query/ip/192.0.2.1',
      ],
    ],
  },
  {
    source:
      'Other words of the same meanings: sisimai Reason/Blocked.pm, SpamDetected.pm, RequirePTR.pm; KumoMTA bounces.toml; smtp-field-manual/issues/11 of 2019-10',
    replies: [
      ['spam', '550 Access from ip address 192.0.2.1 blocked'],
      ['spam', '550 Bad sender IP address'],
      ['spam', '554 Dynamic/zombied/spam IPs blocked'],
      ['spam', '550 Go away'],
      ['policy', '550 No access from mail server 192.0.2.1'],
      ['spam', '550 Not currently accepting mail from your ip'],
      ['spam', '554 Server IP 192.0.2.1 listed as abusive'],
      ['spam', '550 Server access forbidden by your IP 192.0.2.1'],
      ['authentication', '550 Server access 192.0.2.1 forbidden by invalid RDNS record of your mail server'],
      ['spam', '550 sorry, your remotehost looks suspiciously like spammer'],
      ['spam', '450 Your network is temporary blacklisted'],
      ['authentication', '554 Access denied. IP name lookup failed'],
      ['authentication', '550 cannot find your hostname'],
      ['authentication', '550 unresolvable relay host name'],
      ['authentication', '450 service permits 2 unverifyable sending IPs'],
      ['spam', '550 ip in prison'],
      ['spam', '550 "The mail server detected your message as spam and has prevented delivery."'],
      ['spam', '554 cyberoam anti spam engine has identified this email as a bulk email'],
      ['spam', '554 Blocklisting in effect'],
      ['policy', '550 Rejected - Content Policy'],
      ['policy', '452 restricted by policy error'],
      ['spam', '550 JunkMail rejected'],
      ['spam', '550 Recipient not on bypass list, your IP has been found on a block list'],
      ['spam', '550 message has been rejected due to spam or virus classification'],
      ['spam', '550 This message was rejected by Recurrent Pattern Detection System'],
      ['spam', '550 Message rejected because of unacceptable content'],
      ['spam', '550 Error: content filter rejection'],
      ['rate', '421 Please try again slower'],
      ['rate', '550 ship.example has exceeded the max emails per hour (500) allowed. Message discarded.'],
      ['spam', '553 Blocked Using Spam Pattern, Your Message May Contain The Spam Contents'],
      ['spam', '550 Extreme bad ip profile'],
    ],
  },
  {
    source:
      'Still other words: sisimai Reason/Blocked.pm, Rejected.pm; PHP Bounce Handler 7.3; zone-mta bounces.txt (Hotmail)',
    replies: [
      ['policy', '550 server does not accept mail from ship.example'],
      ['policy', '550 Your host is not allowed to send mail here'],
      ['spam', "421 Your server's IP has been temporarily blocked"],
      ['spam', '550 Please use the smtp server of your ISP'],
      ['spam', '550 Rejecting open proxy 192.0.2.1'],
      ['spam', '553 mail server at 192.0.2.1 is blocked'],
      ['spam', "550 you're using a mass mailer"],
      ['spam', '550 REJECT bulk.advertising'],
      ['spam', '550 dial-up or dynamic-ip denied'],
      ['policy', '550 Connection refused due to abuse'],
      ['authentication', '554 Message does not pass DomainKeys'],
      ['policy', '550 not allowed access from your location'],
      ['policy', '554 denied'],
      ['policy', '550 Mail Refused'],
      ['policy', '451 your message has been temporarily blocked by our filter'],
      ['policy', '554 5.0.0 email address is on SenderFilterConfig list'],
      ['rate', "421 RP-001 (SNT004-MC11F3) Unfortunately, some messages from 192.0.2.1 weren't sent"],
      ['spam', "550 OU-001 (SNT004-MC11F3) Unfortunately, messages from 192.0.2.1 weren't sent."],
      ['spam', '550 SC-001 (SNT004-MC11F3) Mail rejected for policy reasons.'],
      ['spam', '550 DY-001 (SNT004-MC11F3) Mail rejected for policy reasons.'],
    ],
  },
  {
    source:
      'German and Estonian: compuserve, at sitepackage.de; bytecamp.net/de/faq/email/zustellen.html; zone-mta bounces.txt',
    replies: [
      ['authentication', '554 Refused. Your reverse DNS entry contains your IP address and a country code.'],
      ['spam', '571 5.7.1 message classified as spam (Nachricht als Spam eingestuft)'],
      [
        'spam',
        '550 5.7.1 --- SAATKE SEE TEADE OMA IT-MEHELE! --- TEIE server 192.0.2.1 on BLACKLISTIS dnsbl.sorbs.net, Sorbs blokeeris kirja!',
      ],
      [
        'rate',
        '421 4.7.1 Service unavailable; Client host [192.0.2.1] blocked using grey.rbl - Rechazo temporal - Greylisting in action',
      ],
    ],
  },
  {
    source:
      'strato: strato.nl/faq/mail; Facebook and Gmail: sisimai Rhost/Facebook.pm, smtp-field-manual 421.json; Exchange Online: 421.json',
    replies: [
      ['spam', '550 Refused by local policy. No SPAM please! (B-URL)'],
      ['policy', '550 Refused by local policy'],
      [
        'spam',
        '421 4.7.0 [192.0.2.1] Our system has detected that this message is suspicious due to the very low reputation of the sending domain.',
      ],
      [
        'rate',
        '421 4.3.2 The maximum number of concurrent connections per resource forest has exceeded a limit, closing transmission channel.',
      ],
      [
        'spam',
        '550 5.7.1 Service unavailable, MailFrom domain is listed in Spamhaus. To request removal from this list see the query',
      ],
      ['spam', '554 Sender domain listed at multi.surbl.org'],
    ],
  },
  {
    source: 'None: the same meanings in other languages, of which no quotation was found',
    replies: [
      ['spam', '550 Ihre IP-Adresse 192.0.2.1 wurde gesperrt'],
      ['spam', '554 Votre adresse IP est bloqu\u00E9e'],
      ['spam', '554 Su direcci\u00F3n IP ha sido bloqueada'],
      ['spam', '554 O seu endere\u00E7o IP foi bloqueado'],
      ['spam', '554 Indirizzo IP 192.0.2.1 bloccato'],
      ['spam', '554 Adres IP 192.0.2.1 zosta\u0142 zablokowany'],
      ['spam', '554 Uw IP adres is geblokkeerd'],
      ['policy', '550 Absender abgelehnt'],
      ['policy', '550 Absenderadresse unbekannt'],
      ['policy', '550 Exp\u00E9diteur refus\u00E9'],
      ['policy', '550 Remitente desconocido'],
      ['policy', '550 Remetente bloqueado'],
      ['policy', '550 Mittente rifiutato'],
      ['policy', '550 Nadawca zablokowany'],
      [
        'spam',
        '550 \u041F\u0438\u0441\u044C\u043C\u043E \u043F\u043E\u0445\u043E\u0436\u0435 \u043D\u0430 \u0441\u043F\u0430\u043C',
      ],
      ['spam', '550 \u8FF7\u60D1\u30E1\u30FC\u30EB'],
      ['spam', '554 2001:db8::1 blocked'],
      ['policy', '550 Access denied'],
    ],
  },
]
