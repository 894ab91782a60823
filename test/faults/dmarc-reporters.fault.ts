import { execFileSync } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { startDns } from '../helpers/dns.ts'
import { makeService } from '../helpers/service.ts'
import { SmtpClient } from '../helpers/smtp-client.ts'
import { createSigningKey } from '../relay/returns/aggregate-reports.ts'

/**
 * Writes the mail with a report as Mail::DMARC sends it. Arguments: the domain, where the report goes, its beginning; then for each record its
 * address, count, disposition, the results of DKIM and SPF, and the domain in From.
 */
const REPORTER = `
use strict; use warnings;
use Mail::DMARC::Report;
use Mail::DMARC::Report::Send::SMTP;
my ($domain, $to, $begin, @rows) = @ARGV;
my $report = Mail::DMARC::Report->new;
my $smtp = Mail::DMARC::Report::Send::SMTP->new;
for my $part ($report, $smtp) {
  my $config = $part->config;
  @{$config->{organization}}{qw/domain org_name email/} = ('receiver.example', 'Receiver', 'dmarc-reports@receiver.example');
}
my $aggregate = $report->aggregate;
my $meta = $aggregate->metadata;
$meta->org_name('Receiver');
$meta->email('dmarc-reports@receiver.example');
$meta->report_id('report-1');
$meta->begin($begin);
$meta->end($begin + 86399);
my $policy = Mail::DMARC::Policy->new("v=DMARC1; p=quarantine; adkim=s; rua=mailto:$to");
$policy->domain($domain);
$aggregate->policy_published($policy);
while (my ($ip, $count, $disposition, $dkim, $spf, $from) = splice @rows, 0, 6) {
  $aggregate->record(Mail::DMARC::Report::Aggregate::Record->new(
    identifiers => { header_from => $from, envelope_from => $from, envelope_to => 'receiver.example' },
    auth_results => { dkim => [{ domain => $from, selector => 's1', result => $dkim }], spf => [{ domain => $from, scope => 'mfrom', result => $spf }] },
    row => { source_ip => $ip, count => $count, policy_evaluated => {
      disposition => $disposition, dkim => $dkim, spf => $spf, reason => [{ type => 'other', comment => 'a <list> & more' }] } },
  ));
}
my $xml = $aggregate->as_xml;
my $packed = $report->compress(\\$xml);
print $smtp->assemble_message_object(\\$aggregate, $to, $packed)->as_string;
`
const PERL = '/usr/bin/perl'
const isReady = (() => {
  try {
    execFileSync(PERL, ['-MMail::DMARC::Report', '-e', '1'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
})()
const SKIP = !isReady && 'Mail::DMARC not found: apt-get install --no-install-recommends libmail-dmarc-perl'
const DAY = 86_400

t.test('a report that Mail::DMARC has written is recorded with all its figures, once', { skip: SKIP }, async (t) => {
  const receiver = createSigningKey('receiver.example')
  const dns = await startDns(t, { 'relay.test': { a: ['192.0.2.1'] }, ...receiver.zones })
  const service = await makeService(t, { RETURN_PATH_HOST: 'bounces.test', DNS_SERVERS: dns.address })
  await service.openReturns()
  const { domain } = await service.makeSender()
  const below = `news.${domain}`
  const begin = Math.floor(Date.now() / 1000 / DAY) * DAY - DAY
  const rows = [
    ['192.0.2.1', '911', 'none', 'pass', 'pass', domain],
    ['192.0.2.1', '7', 'none', 'pass', 'fail', below],
    ['192.0.2.1', '3', 'quarantine', 'fail', 'fail', domain],
    ['198.51.100.7', '23', 'none', 'fail', 'pass', domain],
    ['2001:db8::77', '5', 'quarantine', 'fail', 'fail', domain],
  ]
  const written = execFileSync(PERL, ['-e', REPORTER, domain, 'dmarc@bounces.test', String(begin), ...rows.flat()], {
    // It looks for its settings in the working directory.
    cwd: mkdtempSync(join(process.env.TEST_FOLDER ?? tmpdir(), 'dmarc-')),
    encoding: 'latin1',
  })
  const mail = await receiver.sign(Buffer.from(written.replace(/\r?\n/g, '\r\n'), 'latin1'))
  const client = await SmtpClient.connect(t, { port: service.config.returnsPort })
  await client.reply()
  t.match(await client.command('EHLO mx.receiver.example'), /^250-/)
  t.match(await client.submit('', 'dmarc@bounces.test', mail), /^250 2\.0\.0 /)
  t.match(await client.submit('', 'dmarc@bounces.test', mail), /^250 2\.0\.0 /, 'and again')
  const summary = await service.core.aggregateReports.showDmarc({ name: domain, days: 14 })
  t.match(summary, {
    reports: 1,
    unauthenticated: 0,
    policy: { p: 'quarantine', adkim: 's' },
    ours: { messages: 921, aligned: 918 },
    others: { messages: 28, aligned: 23 },
    reporters: [{ reporter: 'receiver.example', organization: 'Receiver', reports: 1, messages: 949 }],
    otherSources: [
      { address: '198.51.100.7', messages: 23, aligned: 23, headerFrom: domain },
      { address: '2001:db8::77', messages: 5, aligned: 0, headerFrom: domain },
    ],
  })
  const stored = await service.sql<Record<string, unknown>[]>`select * from dmarc_rows order by count desc`
  t.comment(`figures: ${stored.length} rows, ${summary?.ours.messages} and ${summary?.others.messages} messages`)
})
