import type { Setting } from './setting.ts'

/** Settings for the programs that watch processes; a part of SETTINGS. */
export const WATCH_SETTINGS: readonly Setting[] = [
  {
    name: 'HEALTH_HOST',
    default: '127.0.0.1',
    meaning: 'IP address or host name on which relay, returns and delivery processes answer health checks.',
  },
  {
    name: 'HEALTH_PORT',
    default: '',
    meaning:
      'Port of GET /health/live and /health/ready of a relay, returns or delivery process, one for each process of a host. If ' +
      'empty, there are none. The Web API has them on API_PORT, and npm start sets none.',
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
      'Port of GET /metrics, in the format of Prometheus, one for each process of a host. If empty, there are none. With npm ' +
      'start, the API has this port; relay, delivery and returns have the next three, and further processes of API_PROCESSES, ' +
      'RELAY_PROCESSES and WORKERS those after them.',
  },
  {
    name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    default: '',
    meaning:
      'Base URL of a receiver of OpenTelemetry traces by OTLP over HTTP, such as http://127.0.0.1:4318. If empty, there are no traces. The other variables of the standard apply, too, such as OTEL_EXPORTER_OTLP_HEADERS.',
  },
  {
    name: 'OTEL_TRACES_SAMPLER',
    default: 'parentbased_traceidratio',
    meaning:
      'Which traces are exported: parentbased_traceidratio, traceidratio, parentbased_always_on, always_on, parentbased_always_off ' +
      "or always_off. With parentbased, the caller's traceparent decides for its messages.",
  },
  {
    name: 'OTEL_TRACES_SAMPLER_ARG',
    default: '0.01',
    meaning: 'Part of the traces that a sampler with traceidratio exports, from 0 to 1.',
  },
]
