/** Commands of helm's that are not here, or go by another name, and what to do instead. */
export const helmsOwnCommands = {
  create: 'a chart is Chart.yaml, values.yaml and templates/ in a folder; slipway chart lint looks it over',
  repo: 'repositories that helm knows are known here, too; others are named by their address with --repo',
  registry: 'what helm registry login or docker login left behind is used',
  search: 'nothing is searched; --version takes a range, and the newest that fits is taken',
  push: 'slipway chart package packs a chart; send it with helm push',
  verify: 'provenance files are not checked; every archive is checked against the digest of its repository',
  plugin: 'there are no plugins',
  version: 'slipway version',
  completion: 'slipway completion',
  ls: 'slipway chart list',
  delete: 'slipway chart uninstall',
  del: 'slipway chart uninstall',
  un: 'slipway chart uninstall',
  hist: 'slipway chart history',
  dep: 'slipway chart dependency',
  dependencies: 'slipway chart dependency',
  inspect: 'slipway chart show',
  fetch: 'slipway chart pull',
} as const;

const fetched = 'charts of repositories are fetched when a release needs them';

/** The same of helmfile's. */
export const helmfilesOwnCommands = {
  deps: fetched,
  repos: fetched,
  fetch: fetched,
  lint: 'slipway helmfile template renders every release; slipway chart lint looks a chart over',
  charts: 'slipway helmfile sync',
  delete: 'slipway helmfile destroy',
  status: 'slipway chart status RELEASE',
  test: 'slipway chart test RELEASE',
  init: 'helm and its plugins are not needed',
  'print-env': 'slipway helmfile build prints the values as renderedvalues',
  version: 'slipway version',
} as const;
