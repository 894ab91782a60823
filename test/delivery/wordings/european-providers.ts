import type { Sourced } from './sourced.ts'

/** European providers refuse the sender: its host, volume, content, reputation or authentication. */
export const OF_EUROPEAN_PROVIDERS: readonly Sourced[] = [
  {
    source: 't-online: spamresource.com 2020-06, github.com/mailcow/mailcow-dockerized/issues/2639 of 2019-05-25',
    replies: [
      [
        'spam',
        '554 IP=192.0.2.1 - A problem occurred. (Ask your postmaster for help or to contact tosa@rx.t-online.de to clarify.) (BL)',
      ],
      [
        'spam',
        '554 IP:192.0.2.1 - A problem occurred. (Ask your postmaster for help or to contact tosa@rx.t-online.de to clarify.)',
      ],
    ],
  },
  {
    source:
      't-online: timmehosting.de/leitfaden-wenn-t-online-e-mails-blockiert, github.com/chatmail/provider-db/issues/280 of 2024-02-28',
    replies: [
      [
        'spam',
        '554 IP=192.0.2.1 - None/bad reputation. Ask your postmaster for help or to contact tobr@rx.t-online.de for reset. (NOWL)',
      ],
      [
        'spam',
        '554 IP=192.0.2.1 - Dialup/transient IP not allowed. Use a mailgateway or contact toda@rx.t-online.de if obsolete. (DIAL)',
      ],
    ],
  },
  {
    source: 'free.fr: postmaster.free.fr; support.sparkpost.com, Momentum, adaptive_rules.lua of 2020-03-26',
    replies: [
      ['spam', '550 spam detected'],
      ['spam', '421 Too many spams from your IP (192.0.2.1), please visit http://postmaster.free.fr/'],
      ['rate', '451 too many errors from your ip (192.0.2.1), please visit http://postmaster.free.fr/'],
      ['rate', '421 Server busy - too many connections from your IP'],
    ],
  },
  {
    source:
      'laposte: github.com/sisimai/p5-sisimai Rhost/FrancePTT.pm at 01789b3, doc.gadz.org 21791317; bentonow.com/smtp-errors/laposte',
    replies: [
      ['policy', '550 5.5.0 Service refuse. Veuillez essayer plus tard. service refused, please try later. LPN007_510'],
      ['policy', '550 5.7.1 Service refuse. Veuillez essayer plus tard. service refused, please try later. LPN007_510'],
      ['policy', '550 5.5.0 Service refuse. Veuillez essayer plus tard. service refused, please try later. LPN001_108'],
      [
        'policy',
        '450 4.7.1 mx.ship.example: Client host rejected: Service refuse. Veuillez essayer plus tard. service refused. LPN027_503',
      ],
      [
        'rate',
        '421 4.5.0 Trop de connexions, veuillez verifier votre configuration. Too many connections, slow down. LPN105_104',
      ],
      ['rate', '421 Trop de connexions, veuillez verifier votre configuration. LPN105_104'],
      ['authentication', '550 5.5.0 SPF: desk@ship.example is not allowed to send mail. LPN004_401'],
      ['policy', '550 5.0.1 Emetteur invalide. Invalid Sender. LPN105_405'],
      ['policy', '550 5.0.1 Emetteur invalide. OFR_415'],
    ],
  },
  {
    source:
      'orange: github.com/ActiveCampaign/smtp-field-manual/pull/60 of 2021-04-21; KumoMTA community/bounces.toml at 014ac24; FrancePTT.pm',
    replies: [
      [
        'spam',
        '550 mwinf5c14 ME Adresse IP source bloquee pour incident de spam. Client host blocked for spamming issues. OFR006_102 [102]',
      ],
      [
        'spam',
        '550 mwinf5c14 ME Adresse IP source bloquee. OFR006_102 Ref http://csi.cloudmark.com/reset-request/?ip=192.0.2.1 [102]',
      ],
      [
        'policy',
        '421 4.2.0 Service refuse. Veuillez essayer plus tard. Service refused, please try later. OFR005_505 [505]',
      ],
      [
        'policy',
        '421 mwinf5c77 ME Service refuse. Veuillez essayer plus tard. Service refused, please try later. OFR_999 [999]',
      ],
      ['rate', '421 mwinf5c04 ME Trop de connexions, veuillez verifier votre configuration. OFR004_104 [104]'],
      ['authentication', '501 5.0.2 Mail rejected. DMARC check failed.'],
      ['spam', '550 5.0.1 Invalid Sender. Your domain has been blacklisted'],
      ['spam', '550 Mail rejete. Mail rejected. OUK_513'],
    ],
  },
  {
    source:
      'sfr: postmastery.com delivrabilite-sfr, sisimai Reason/Blocked.pm at 0247fd3; bentonow.com/smtp-errors/sfr; doc.gadz.org 21791317',
    replies: [
      ['spam', '550 5.7.1 <mx.ship.example[192.0.2.1]>: Client host rejected: Abus detecte GU_EIB_02'],
      ['spam', '554 <mx.ship.example[192.0.2.1]>: Client host rejected: Abus detecte GU_EIB_04'],
      ['spam', '550 5.7.1 Email 4RH2xT4NwZz1LQKck rejected per SPAM policy'],
      ['spam', '550 5.7.1 Message content rejected'],
      ['policy', '450 4.7.1 Client host rejected: Service refused due to bad behavior. SFR_IN_101'],
      ['rate', '421 4.7.0 msfrf2604.sfr.fr Error: too many errors'],
    ],
  },
  {
    source: 'Bouygues: quoted with laposte and sfr in a list of last replies by domain, 2023-07',
    replies: [['policy', '554 5.7.1 Rejected for policy reason']],
  },
  {
    source: 'mail.ru: smtp-field-manual data/codes/550.json at 00ebd61; sisimai Reason/Blocked.pm; adaptive_rules.lua',
    replies: [
      [
        'spam',
        '550 spam message rejected. Please visit http://help.mail.ru/notspam-support/id?c=7y4y or report details to abuse@corp.mail.ru.',
      ],
      [
        'spam',
        '550 spam message discarded. If you think that the system is mistaken, please report details to abuse@corp.mail.ru',
      ],
      ['spam', '550 We do not accept mail from dynamic IPs.'],
      ['authentication', '550 We do not accept mail from hosts with dynamic IP or generic DNS PTR-records.'],
      [
        'spam',
        '554 Your access to this mail system has been rejected due to poor reputation of a domain used in message transfer',
      ],
    ],
  },
  {
    source: 'yandex and rambler: smtp-field-manual 550.json and 554.json; yandex.com/support/mail/bounces/yandex',
    replies: [
      ['spam', '554 5.7.1 [1] Message rejected under suspicion of SPAM; https://ya.cc/1IrBc ##'],
      ['spam', '554 Message rejected under suspicion of SPAM'],
      ['spam', '554 Blocked by spam statistics - see http://feedback.yandex.ru/?from=mail-rejects&subject=192.0.2.1'],
      ['policy', '550 5.7.1 Policy rejection on the target address'],
      ['spam', '554 5.7.1 Spam message rejected; If this is not spam contact abuse'],
    ],
  },
  {
    source:
      'iCloud: KumoMTA community/shaping.toml at 00df937; smtp.codes/icloud; suped.com, Message rejected due to local policy, of 2025-04-30; sisimai Rhost/Apple.pm at 0a5bf61',
    replies: [
      [
        'policy',
        '554 5.7.1 [HM07] Message rejected due to local policy. Please visit https://support.apple.com/en-us/HT204137',
      ],
      ['policy', '554 [HM08] Message rejected due to local policy.'],
      [
        'policy',
        '550 5.7.1 [CS01] Message rejected due to local policy. Please visit https://support.apple.com/en-us/HT204137',
      ],
      ['policy', '550 [CS02] Message rejected due to local policy'],
      ['rate', '421 4.7.1 Messages to lena@harbor.example deferred due to excessive volume. Try again later'],
      ['rate', '421 [HCM1] Your mail from 192.0.2.1 was deferred.'],
      ['rate', '421 4.7.0 harbor.example Error: too many errors'],
      [
        'authentication',
        '554 5.7.1 [HME1] This message was blocked for failing both SPF and DKIM authentication checks.',
      ],
      ['spam', '554 mx.harbor.example ESMTP Blocked'],
      ['policy', '554 ci-smtpin001.me.com ESMTP not accepting connections'],
    ],
  },
  {
    source:
      'GMX and WEB.DE: postmaster.gmx.com/en/error-messages; smtp.codes/unitedinternet; new-faq.comservice-ffo.de; marmaro.de of 2013-10-24',
    replies: [
      [
        'spam',
        '554-gmx.net (mxgmx104) Nemesis ESMTP Service not available\r\n554-No SMTP service\r\n554-IP address is block listed.\r\n554 For',
      ],
      [
        'spam',
        '554-gmx.net (mxgmx007) Nemesis ESMTP Service not available\r\n554-No SMTP service\r\n554-IP address is black listed.\r\n554 For',
      ],
      [
        'authentication',
        '554-gmx.net (mxgmx007) Nemesis ESMTP Service not available\r\n554-No SMTP service\r\n554-Bad DNS PTR resource record.\r\n554 For',
      ],
      ['policy', '421 Reject due to policy violations'],
      ['policy', '550 Reject due to policy restrictions.'],
      [
        'policy',
        '554-Transaction failed\r\n554-Reject due to policy restrictions.\r\n554 For explanation visit https://postmaster.gmx.net/en/case',
      ],
      ['rate', '421 Rate limit reached. Please try again later'],
      [
        'authentication',
        '550 <lena@harbor.example>: Reject due to SPF policy. The originating IP of the message is not permitted by the domain owner',
      ],
    ],
  },
  {
    source: 'libero, virgilio, ziggo, optus, iinet: a list of last replies by domain, 2023-07; libero also turbolab.it',
    replies: [
      [
        'spam',
        '550 smtp-10.iol.local smtp-10.iol.local IP blacklisted by CSI. For remediation please use http://csi.cloudmark.com/reset-request/',
      ],
      [
        'spam',
        '550 mx10.tb.mail.iss.as9143.net MXIN103 Your IP 192.0.2.1 is in RBL. Please see http://csi.cloudmark.com/reset-request/?ip=192.0.2.1',
      ],
      [
        'spam',
        '521 5.7.1 <lena@harbor.example>: Recipient address rejected: You are not allowed to send mail. Please see http://csi.cloudmark.com/',
      ],
      [
        'spam',
        "554 mx.harbor.example Your access to this mail system from 192.0.2.1 has been rejected due to the sending MTA's poor reputation.",
      ],
      ['spam', '550 A URL in this email (quay . example) is listed on https://spamrl.com/. Please resolve and retry'],
      ['rate', '421 #4.4.5 Too many connections to this listener.'],
    ],
  },
  {
    source:
      'Polish providers: KumoMTA bounces.toml; adaptive_rules.lua; pomoc.poczta.interia.pl; bounces of onet and wp.pl in public repositories',
    replies: [
      [
        'spam',
        "554 (#5.3.0) Nie przyjmiemy tej wiadomosci poniewaz jest to spam We can't accept this message because it is spam",
      ],
      ['spam', "550 5.3.0 We can't accept this message because it is spam"],
      ['rate', '470 (#4.7.1) you sent too many e-mails'],
      ['authentication', '550 5.7.0 [SPF] mx.ship.example (192.0.2.1) is not allowed to send mail from ship.example'],
      ['authentication', '554 5.7.1 <lena@harbor.example>: Recipient address rejected: Spf check: fail'],
      ['spam', '550 Wiadomosc zostala odrzucona przez system antyspamowy'],
      ['policy', '550 5.1.0 cNkj1y0022zrrQM01NkjaD policy violation, see https://support.forpsi.com/kb/a4081'],
      ['policy', '550 5.1.0 Naruszenie zasad cNkj1y0022zrrQM01NkjaD, zobacz https://support.forpsi.com/kb/a4071'],
    ],
  },
  {
    source: 'Czech hosters: support.grhosting.cz/kb/a290',
    replies: [
      ['spam', '552 5.2.0 0biL1i00V1cmcpM01biL4w spam detected'],
      ['spam', '550 5.1.1 <desk@ship.example> sender is blacklisted'],
      ['authentication', '550 5.1.0 0bcW1i00G0jifNx01bcmHa blocked by SPF'],
    ],
  },
  {
    source: 'QQ: sisimai Rhost/Tencent.pm at 0691512, after service.mail.qq.com/detail/122; adaptive_rules.lua',
    replies: [
      ['spam', '550 Suspected bounce attacks'],
      ['spam', '550 Suspected spam ip'],
      ['policy', '550 Connection denied'],
      ['spam', '550 Suspected spam'],
      ['spam', '550 Mail content denied. http://service.mail.qq.com/cgi-bin/help?subtype=1&&id=20022&&no=1000726'],
      ['spam', '550 Error: mail rejected by antispam server'],
      ['rate', '550 Domain frequency limited [ship.example]'],
      ['rate', '550 Connection frequency limited'],
      ['authentication', '550 SPF check failed'],
    ],
  },
]
