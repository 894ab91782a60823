/** The settings of the start and stop of processes: rows of the list in settings.ts. */
export const PROCESS_SETTINGS: readonly { name: string; default: string; meaning: string }[] = [
  {
    name: 'DRAIN_DELAY',
    default: '0',
    meaning:
      'Seconds (0 to 300) for which an API, relay or returns process answers 503 to GET /health/ready after SIGTERM, and works as before, until it accepts no new connections. Behind a load balancer, set it to the time in which that takes a process out of service: the interval of its health checks, times the failures it waits for, plus a second.',
  },
]
