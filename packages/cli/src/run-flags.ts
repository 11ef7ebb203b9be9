const port = { type: 'integer', value: 'number', least: 0, most: 65_535 } as const;

/** The flags of `slipway run`. Those of the pods of an installation are the same. */
export const runFlags = {
  'install-crds': { type: 'boolean', summary: 'apply the CRDs first' },
  'leader-elect': { type: 'boolean', summary: 'run only while holding the lease' },
  'leader-election-namespace': {
    type: 'string',
    value: 'name',
    summary: 'namespace of the lease (default: the one of the context or pod)',
  },
  'health-port': { ...port, summary: 'serve /healthz and /readyz (default: off)' },
  'metrics-port': { ...port, summary: 'serve /metrics (default: off)' },
  'bind-address': {
    type: 'string',
    value: 'address',
    summary: 'serve health and metrics on this address alone (default: on all)',
  },
  'metrics-require-token': {
    type: 'boolean',
    summary: 'answer /metrics only to a bearer token whose owner may get that path',
  },
  'webhook-service': {
    type: 'string',
    value: 'name',
    summary: 'Service by which the API server reaches the webhooks, as NAME or NAMESPACE/NAME',
  },
  'webhook-url': {
    type: 'string',
    value: 'url',
    summary: 'https URL by which it reaches them, when they run outside the cluster',
  },
  'webhook-port': { ...port, default: 9443, summary: 'serve the webhooks' },
  'log-level': {
    type: 'string',
    value: 'level',
    summary: 'least level that is logged',
    choices: ['debug', 'info', 'warn', 'error'],
    default: 'info',
  },
  'log-format': {
    type: 'string',
    value: 'format',
    summary: 'how it is logged (default: text on a terminal, json elsewhere)',
    choices: ['text', 'json'],
  },
} as const;
