import type { Sourced } from './sourced.ts'

/** Providers of other continents, and BT and Belgian ones that share their software, refuse the sender. */
export const OF_OVERSEAS_PROVIDERS: readonly Sourced[] = [
  {
    source:
      '163, 126: the codes of help_spam_16.htm, at biecuoliao.com/pa/MBRrwEM.html, 163ns.com.cn; adaptive_rules.lua; what follows a code is ours',
    replies: [
      [
        'spam',
        '554 DT:SPM 126 smtp5,jtKowAAnI4CgTxpbogAOAA--.26S2 1528450981,please see http://mail.163.com/help/help_spam_16.htm',
      ],
      ['spam', '451 DT:SPM ,please try again'],
      ['policy', '554 DT:SUM 163 smtp12,EMCowABX 1528450981'],
      ['spam', '450 DT:RBL 163 mx3,192.0.2.1'],
      ['spam', '554 HL:IPB 163 mx21,192.0.2.1'],
      ['rate', '554 HL:IFQ 163 mx21,192.0.2.1'],
      ['rate', '450 MI:CCL 163 mx21,192.0.2.1'],
      ['rate', '421 HL:REP 163 mx21,192.0.2.1'],
      ['rate', '421 HL:ICC 163 mx21,192.0.2.1'],
      ['rate', '421 HL:IFC 163 mx21,192.0.2.1'],
      ['rate', '554 HL:ITC 163 mx21,192.0.2.1'],
      ['spam', '421 HL:MEP 163 mx21,192.0.2.1'],
      ['spam', '554 HL:IHU 163 mx21,192.0.2.1'],
      ['rate', '450 MI:CEL 163 mx21,192.0.2.1'],
      ['rate', '450 MI:DMC 163 mx21,192.0.2.1'],
      ['rate', '451 MI:SFQ 163 mx21,192.0.2.1'],
      ['rate', '554 MI:STC 163 mx21,192.0.2.1'],
      ['rate', '451 RP:CEL 163 mx21,192.0.2.1'],
      ['rate', '450 RP:DRC 163 mx21,192.0.2.1'],
      ['rate', '550 RP:TRC 163 mx21,192.0.2.1'],
      ['policy', '450 WM:BLI 163 mx21,192.0.2.1'],
      ['policy', '450 WM:BLU 163 mx21,192.0.2.1'],
      ['spam', '421 IP<192.0.2.1> rejected'],
    ],
  },
  {
    source:
      'sina, sohu, 21cn, tom: adaptive_rules.lua of 2020-03-26; blog.sina.com.cn s/blog_8dc13ec50101fxxr; icoremail.vip support 84',
    replies: [
      ['spam', '553 5.7.0 IP REJECT'],
      ['policy', '553 5.7.1 SENDER REJECT'],
      ['spam', '553 this mail is rejected by antispam system'],
      ['spam', '552 message rejected by anti-spam engine.'],
      ['spam', '550 black ip.'],
      ['policy', '553 host denies the sender.'],
      ['spam', '554 rbl deny.'],
      ['rate', '552 too many same size mails.'],
      ['spam', '550 IP is rejected'],
      ['spam', '553 Requested mail action not taken: Invalid IP'],
    ],
  },
  {
    source:
      'Naver, Daum, Korean portals: puffinknight.tistory.com/102, auctionpro.co.kr/?p=2544 of 2018-12, blog.jinbo.net/007 of 2005-11-07',
    replies: [
      [
        'spam',
        '421 4.3.2 Your IP(192.0.2.1) is filtered and this connection will be closed. You must register your IP to http://realip.naver.com',
      ],
      ['rate', '421 4.3.1 You send too many messages.'],
      ['spam', '554 5.7.1 DAS51 192.0.2.1: Your mail is blocked automatically by anti-spam system.'],
      ['spam', '550 Transaction failed. (SPAM_SUSPECT:IP_CONTROL) (http://cleanip.paran.com)'],
      [
        'rate',
        '550 5.7.1 <lena@harbor.example>... Error. your access was denied. Since you sent too many e-mails, you are not allowed to send more',
      ],
      ['filtered', "550 You are registered as spammer (by user's reject list)"],
    ],
  },
  {
    source: 'SoftBank and docomo: note.com/sendmagic n5afbf98aeb25, nb6bbe7e51cf; sisimai Rhost/NTTDOCOMO.pm',
    replies: [
      ['bad-mailbox', '550 Unknown user lena@harbor.example'],
      ['rate', '552 Too many recipients'],
    ],
  },
  {
    source:
      'Yahoo Japan and Yahoo: KumoMTA community/shaping.toml at 00df937; smtp-field-manual 554.json; zone-mta bounces.txt at 0009aaf',
    replies: [
      ['policy', '553 Mail from 192.0.2.1 not allowed - VS98-IP0 deferred'],
      [
        'spam',
        "553 5.7.1 [BL21] Connections will not be accepted from 192.0.2.1, because the ip is in Spamhaus's list",
      ],
      [
        'policy',
        '554 Message not allowed - [PH01] Email not accepted for policy reasons. Please visit https://help.yahoo.com/kb/SLN5067.html [120]',
      ],
      ['policy', '554 Message not allowed - [299]'],
      ['rate', '421 Max message per connection reached, closing transmission channel'],
      ['rate', '451 Message temporarily deferred - 4.16.50'],
      ['rate', '421 Messages from 192.0.2.1 temporarily deferred due to user complaints - 4.16.55.1'],
    ],
  },
  {
    source:
      'AT&T: worldnet.att.net general-info/bls_info/block_enduser; zone-mta bounces.txt; adaptive_rules.lua; sisimai Reason/SpamDetected.pm',
    replies: [
      [
        'spam',
        '553 5.3.0 flph825 DNSBL:ATTRBL 521< 192.0.2.1 >_is_blocked.For assistance forward this email to abuse_rbl@abuse-att.net',
      ],
      [
        'spam',
        '553 5.3.0 flpd594 DNSBL:RBL 521< 192.0.2.1 >_is_blocked.For assistance forward this email to abuse_rbl@abuse-att.net',
      ],
      ['spam', '521 <192.0.2.1> is blocked'],
      ['spam', '550 <192.0.2.1> blocked by ldap:ou=rblmx,dc=bellsouth,dc=net'],
      ['spam', '550 5.1.0 Blocked for abuse. See http://att.net/blocks'],
      ['authentication', '421-failure in DNS look-up.\r\n421 failure in DNS look-up'],
      ['policy', '550 [permfail] bellsouth.net requires valid sender domain'],
      ['policy', '550 unauthorized interface for <192.0.2.1>'],
      ['rate', '450 too frequent connects from 192.0.2.1, please try again later.'],
    ],
  },
  {
    source: 'Comcast: adaptive_rules.lua; zone-mta bounces.txt; smtp-field-manual 550.json',
    replies: [
      [
        'spam',
        '554 resimta-po-11v.sys.comcast.net 192.0.2.1 found on one or more DNSBLs, see http://postmaster.comcast.net/#BL000010',
      ],
      [
        'rate',
        '421 4.1.0 192.0.2.1 Throttled - try again later. Please see http://postmaster.comcast.net/smtp-error-codes.php#RL000001',
      ],
      ['authentication', '554 PTR record for 192.0.2.1 does not exist. PTR lookup failure'],
      [
        'authentication',
        '550 5.2.0 Message rejected due to DMARC. Please see http://postmaster.comcast.net/smtp-error-codes.php#DM000001',
      ],
      ['spam', '550 5.2.0 Message rejected due to spam content'],
    ],
  },
  {
    source:
      'Cox: the codes and words of postmaster.cox.net Error Codes, in sisimai Rhost/Cox.pm at 0a5bf61, and nanog of 2007-11-20; the rest is ours',
    replies: [
      ['spam', '554 eastrmimpi209.cox.net cox 192.0.2.1 blocked. Error Code: AUP#CXBL'],
      ['spam', '554 ESMTP refused. 192.0.2.1 rejected. AUP#IPBL0001'],
      ['authentication', '421 192.0.2.1 DNS check failure - try again later. AUP#CXDNS'],
      ['authentication', '554 192.0.2.1 rejected - no rDNS - 192.0.2.1'],
      ['authentication', '550 5.1.0 ship.example message rejected. AUP#CXSNDR'],
      ['rate', '421 too many sessions from 192.0.2.1 AUP#CXCNCT'],
      ['rate', '452 4.1.0 message threshold exceeded. AUP#CXMXRT'],
      ['rate', '550 Too many invalid recipients'],
      [
        'spam',
        '552 5.2.0 F77u1Y00B2ccxfT0000000 Message Refused. A URL in the content of your message was found on...uribl.com.',
      ],
    ],
  },
  {
    source:
      'Charter: community.spectrum.net/discussion/172891 of 2023-10-09; the other codes from sisimai Rhost/Spectrum.pm at 87d1697, their texts are ours',
    replies: [
      [
        'spam',
        '554 impin004.msg.chrl.nc.charter.net cmsmtp blocked. Please see https://www.spectrum.net/support for more information. AUP#In-1020',
      ],
      ['authentication', '421 impin018 charter.net ESMTP 192.0.2.1 rejected. AUP#I-1100'],
      ['spam', '554 impin018 charter.net ESMTP 192.0.2.1 refused. AUP#I-1210'],
      ['rate', '421 impin018 charter.net ESMTP refused. AUP#I-1310'],
      ['rate', '452 4.1.0 Message refused. AUP#I-1350'],
    ],
  },
  {
    source:
      'RoadRunner, EarthLink, Verizon, bigpond, t-mobile, telenet: adaptive_rules.lua of 2020-03-26; sisimai Reason/Blocked.pm',
    replies: [
      [
        'policy',
        '554 5.7.1 - ERROR: Mail refused - <192.0.2.1> - See http://security.rr.com/cgi-bin/block-lookup?192.0.2.1',
      ],
      ['authentication', '554 - ERROR: Connection refused. IP name lookup failed 192.0.2.1'],
      ['authentication', '421 - ERROR: Connection refused. Cannot resolve PTR record for 192.0.2.1'],
      ['spam', '550 550 IP 192.0.2.1 is blocked by EarthLink. Go to earthlink.net/block for details.'],
      ['spam', "571 Email from 192.0.2.1 is currently blocked by Verizon Online's anti-spam system."],
      ['spam', '552 5.2.0 nPfF1d00 Suspected spam message rejected. IB703'],
      [
        'spam',
        '554 nskntmtas03p CMGW IB103. Connection refused. 192.0.2.1 has a poor reputation on Cloudmark Sender Intelligence (CSI).',
      ],
      ['rate', '421 nsstlmta BigPond Inbound Connection refused too many sessions from 192.0.2.1'],
      ['policy', '554 5.7.1 Third Party Bad Sender'],
      ['rate', '421 telenet Too many simultaneous sessions'],
      ['rate', '421 mx.harbor.example Too many messages for this session'],
    ],
  },
  {
    source: 'GoDaddy: github.com/sisimai/p5-sisimai/issues/236 of 2017-09-21; terra: zone-mta bounces.txt',
    replies: [
      [
        'rate',
        '550 5.1.1 <lena@harbor.example> - 192.0.2.1 has sent to too many recipients this hour. IB607 <http://x.co/rlbounce>',
      ],
      [
        'spam',
        '554 mx.harbor.example bizsmtp IB105. Connection refused. 192.0.2.1 is listed on the Exploits Block List (XBL)',
      ],
      [
        'spam',
        '554 mx.harbor.example cmsmtp 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using cm-csi-v11; Cloudmark Poor Reputation',
      ],
    ],
  },
  {
    source:
      'BT: wordtothewise.com/2016/08/bt-internet, blog.frankleonhardt.com/tag/bt-internet, btbusiness.custhelp.com a_id/15074',
    replies: [
      [
        'policy',
        '554 Message rejected for policy reasons (3.2.2.1) - Please report any problems to BT via the postmaster mailbox',
      ],
      [
        'spam',
        '554 Message rejected, policy (3.2.1.1) - Your message looks like SPAM or has been reported as SPAM please read',
      ],
      ['rate', '421 Too many messages (1.5.6.1) from 192.0.2.1'],
      ['spam', '550 Message rejected due to sender IP reputation ([192.0.2.1])'],
    ],
  },
  {
    source: 'Proximus: proximus.be/support id_sfaqs_mail_blacklist',
    replies: [
      ['spam', '554 Access denied - Under investigation for spam abuse. Contact your email provider for more info'],
    ],
  },
]
