/** Settings for the programs that watch processes; a part of SETTINGS. */
export const WATCH_SETTINGS: readonly { name: string; default: string; meaning: string }[] = [
  {
    name: 'HEALTH_HOST',
    default: '127.0.0.1',
    meaning: 'IP address or host name on which relay, returns and delivery processes answer health checks.',
  },
  {
    name: 'HEALTH_PORT',
    default: '',
    meaning:
      'Port of GET /health/live and /health/ready of a relay, returns or delivery process, one for each process of a host. If empty, there are none. The Web API has them on API_PORT, and npm start sets none.',
  },
  {
    name: 'METRICS_HOST',
    default: '127.0.0.1',
    meaning: 'IP address or host name on which processes serve their metrics.',
  },
  {
    name: 'METRICS_PORT',
    default: '',
    meaning:
      'Port of GET /metrics, in the format of Prometheus, one for each process of a host. If empty, there are none. With npm start, the API has this port; relay, delivery and returns have the next three, and further processes of API_PROCESSES, RELAY_PROCESSES and WORKERS those after them.',
  },
]
