/** One thing broken in a copy of the tree, and the journey that must notice. */
export interface Break {
  readonly name: string
  readonly file: string
  readonly find: string
  readonly replace: string
  readonly journey: string
}

export const BREAKS: readonly Break[] = [
  {
    name: 'acknowledges before the commit',
    file: 'packages/core/src/messages/accept.ts',
    find: 'const written = await commit.add(stored).finally(() => span?.end())',
    replace:
      'void commit.add(stored).catch(() => {}).finally(() => span?.end())\n      const written = { stored: true, queued: true, refused: false }',
    journey: 'test/journeys/commit.test.ts',
  },
  {
    name: "never takes over a lost worker's deliveries",
    file: 'packages/core/src/delivery/leases/watch-workers.ts',
    find: 'else if (dead.length > 0) return',
    replace: 'else if (dead.length < 0) return',
    journey: 'test/journeys/crashes.test.ts',
  },
  {
    name: 'writes the final dot without lease and note',
    file: 'packages/delivery/src/queue/recorder.ts',
    find: 'recordEndOfData: (end, promptness) => ends.add(end, promptness)',
    replace: 'recordEndOfData: async (end) => end !== undefined || ends.size < 0',
    journey: 'test/journeys/crashes.test.ts',
  },
  {
    name: 'claims what others hold',
    file: 'packages/core/src/delivery/queue/queue.ts',
    find: 'worker_id is null and account_id = flow.account_id',
    replace: 'account_id = flow.account_id',
    journey: 'test/core/delivery/queue.test.ts',
  },
  {
    name: 'claims only with capacity, whoever uses it up',
    file: 'packages/delivery/src/destinations/in-flight.ts',
    find: 'Math.min(FEW - own,',
    replace: 'Math.min(0,',
    journey: 'test/delivery/in-flight.test.ts',
  },
  {
    name: 'serves a site in the order of arrival',
    file: 'packages/delivery/src/common/fair-queue.ts',
    find: '        own.delete(key)',
    replace: '        if (waiting.items.length === 1) own.delete(key)',
    journey: 'test/delivery/fairness.test.ts',
  },
  {
    name: 'gives connection slots beyond the limit',
    file: 'packages/core/src/delivery/limits/connection-slots.ts',
    find: 'least(request.wanted, request.most - (select',
    replace: 'least(request.wanted, request.most - 0 * (select',
    journey: 'test/core/delivery/connection-slots.test.ts',
  },
  {
    name: 'opens connections without waiting for slots',
    file: 'packages/delivery/src/destinations/connections/slots.ts',
    find: 'const slots = await core.deliveries.slots.take(workerId, requests)',
    replace: `const slots = requests.flatMap(({ place, count }) =>
        Array.from({ length: count }, (_, at) => ({ place, no: at + this.#inUse.size + this.#checks * 1000 })))`,
    journey: 'test/journeys/connection-limit.test.ts',
  },
  {
    name: 'spends an attempt of mail that waits at a paused provider',
    file: 'packages/core/src/delivery/queue/parking.ts',
    find: 'worker_id = null, attempt = q.attempt - 1',
    replace: 'worker_id = null, attempt = q.attempt',
    journey: 'test/delivery/back-off.test.ts',
  },
  {
    name: 'counts the refusals of each worker for itself',
    file: 'packages/core/src/delivery/limits/rule-hits.ts',
    find: 'set hits = h.hits + excluded.hits',
    replace: 'set hits = excluded.hits',
    journey: 'test/core/delivery/limits.test.ts',
  },
  {
    name: 'sends mail of a paused source',
    file: 'packages/delivery/src/routing/worker-sources.ts',
    find: 'return !source.isPaused && (',
    replace: 'return (',
    journey: 'test/delivery/sources.test.ts',
  },
  {
    name: 'chooses a source at random at each attempt',
    file: 'packages/core/src/delivery/sources/choose-source.ts',
    find: 'const seed = digest.readUInt32LE(0)',
    replace: 'const seed = digest.readUInt32LE(0) ^ Math.floor(Math.random() * 2 ** 31)',
    journey: 'test/delivery/sources.test.ts',
  },
  {
    name: 'never uses up the allowance of a new source',
    file: 'packages/core/src/delivery/sources/warm-up.ts',
    find: 'limit: Math.ceil(cap * HOURLY_SHARE)',
    replace: 'limit: cap * 10',
    journey: 'test/delivery/warm-up.test.ts',
  },
  {
    name: 'passes mail to a smart host after an indeterminate attempt',
    file: 'packages/delivery/src/queue/routes.ts',
    find: 'if (smartHosts.isEmpty || onlyHost !== null ||',
    replace: 'if (smartHosts.isEmpty ||',
    journey: 'test/delivery/smart-hosts.test.ts',
  },
  {
    name: 'goes to the next MX after a lost final dot',
    file: 'packages/delivery/src/attempt/conversation.ts',
    find: "if (end.kind === 'lost' && end.stage === 'mail')",
    replace: "if ((end.kind === 'lost' && end.stage === 'mail') || end.kind === 'indeterminate')",
    journey: 'test/delivery/indeterminate.test.ts',
  },
  {
    name: 'tries again at once after a lost final dot',
    file: 'packages/core/src/delivery/outcomes/record.ts',
    find: 'return outcome.indeterminate ? Math.max(delay, INDETERMINATE_WAIT_SECONDS) : delay',
    replace: 'return outcome.indeterminate ? Math.min(1, INDETERMINATE_WAIT_SECONDS) : delay',
    journey: 'test/delivery/indeterminate.test.ts',
  },
  {
    name: 'takes mail on a database that may lose it',
    file: 'packages/core/src/platform/process/readiness.ts',
    find: '...(allowUnsafeDatabase ? [] : off.map(unsafe))',
    replace: '...(allowUnsafeDatabase || off.length > 0 ? [] : off.map(unsafe))',
    journey: 'test/core/platform/readiness.test.ts',
  },
  {
    name: 'signs header fields once only, so that a second one goes unnoticed',
    file: 'packages/delivery/src/message/dkim.ts',
    find: 'names.push(...OVERSIGNED)',
    replace: '',
    journey: 'test/delivery/dkim.test.ts',
  },
  {
    name: 'signs with an Ed25519 key whose record is gone',
    file: 'packages/core/src/domains/keys/keys-store.ts',
    find: ` and d.records->('TXT ' || e.selector || '._domainkey.' || d.name)->>'state' = 'right'`,
    replace: '',
    journey: 'test/api/v2/dkim-ed25519.test.ts',
  },
  {
    name: 'answers an idempotency key whatever comes with it',
    file: 'packages/core/src/messages/idempotency.ts',
    find: 'if (!fingerprint || !first.fingerprint.equals(fingerprint)) throw',
    replace: 'if (first.fingerprint.length === 0) throw',
    journey: 'test/relay/idempotency.test.ts',
  },
  {
    name: 'answers a report before its effect is committed',
    file: 'packages/relay/src/returns/return-data.ts',
    find: 'const { kind, effect, why } = await taken',
    replace:
      "void taken.catch(() => {})\n    const { kind, effect, why } = { kind: 'bounce', effect: 'none', why: 'gone' as string }",
    journey: 'test/relay/returns/receiving.test.ts',
  },
  {
    name: 'counts a report as often as it comes',
    file: 'packages/core/src/returns/late-bounce.ts',
    find: "if (await hasEvent(sql, delivery, 'bounced')) return { effect: 'none', why: 'repeated' }",
    replace: '',
    journey: 'test/delivery/returns.test.ts',
  },
  {
    name: 'sends mail that demands TLS in plain text',
    file: 'packages/delivery/src/smtp/session.ts',
    find: "return level !== 'opportunistic'",
    replace: "return level === 'verified'",
    journey: 'test/delivery/tls-demanded.test.ts',
  },
  {
    name: 'resumes sessions that began without a verified certificate',
    file: 'packages/delivery/src/smtp/session.ts',
    find: 'return this.#tickets.get(ticketKey(endpoint, level))',
    replace: "return this.#tickets.get(ticketKey(endpoint, 'required'))",
    journey: 'test/delivery/tls-tickets.test.ts',
  },
  {
    name: 'lets go of an MTA-STS policy when its record is gone',
    file: 'packages/core/src/delivery/tls/sts-policies.ts',
    find: 'if (!id || (isCurrent(known, id) && !again)) return',
    replace: 'if (!id) known.policy = undefined\n      if (!id || (isCurrent(known, id) && !again)) return',
    journey: 'test/delivery/mta-sts.test.ts',
  },
  {
    name: 'ignores the TLSA records of hosts',
    file: 'packages/delivery/src/tls/host-level.ts',
    find: "if (dane?.kind === 'usable') return 'dane'",
    replace: "if (dane?.kind === 'usable') return demanded",
    journey: 'test/delivery/dane.test.ts',
  },
  {
    name: 'uses hosts whose TLSA records cannot be looked up',
    file: 'packages/delivery/src/tls/host-level.ts',
    find: "if (dane?.kind === 'failed') throw",
    replace: "if (demanded === 'dane' && dane?.kind === 'failed') throw",
    journey: 'test/delivery/dane.test.ts',
  },
  {
    name: 'believes answers that are not authentic',
    file: 'packages/core/src/platform/net/dnssec/secure-dns.ts',
    find: 'const isSecure = packet.flag_ad',
    replace: 'const isSecure = true',
    journey: 'test/delivery/dane.test.ts',
  },
  {
    name: 'resumes sessions that began under other TLSA records',
    file: 'packages/delivery/src/smtp/session.ts',
    find: 'const policy = endpoint.dane ?',
    replace: "const policy = '' ?",
    journey: 'test/delivery/dane.test.ts',
  },
]
