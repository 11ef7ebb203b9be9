import type { OperatorDescription, OperatorFlag, OperatorSettings } from '@slipway/runtime';

import { appPlatformController } from './controller.ts';
import { startExample } from './example/start-example.ts';
import { permissionsForPlatform } from './permissions/for-platform.ts';
import { allPermissions, ownPermissions, referencePermissions } from './permissions/own.ts';
import { HelmfileCaches, nativeHelmfile } from './platform/native-helmfile.ts';
import { type PlatformSettings, settingsFrom } from './settings.ts';
import { shownObjects } from './state/shown-objects.ts';
import { nativeSyncController } from './sync/controller.ts';
import { PlatformRoot } from './values/platform-root.ts';
import { referencePlatform } from './values/reference-platform.ts';
import { pushWebhook } from './webhook/push-webhook.ts';

const rootFlag = 'platform-root';

const flags: readonly OperatorFlag[] = [
  {
    name: rootFlag,
    type: 'string',
    description: 'Folder of the platform: charts, helmfiles, schema. Default: the reference platform.',
  },
  {
    name: 'env-dir',
    env: 'ENV_DIR',
    type: 'string',
    description: 'Working copy of the values repository. Default: env in the present folder.',
  },
  {
    name: 'values-input',
    env: 'VALUES_INPUT',
    type: 'string',
    description:
      'YAML file with the values of the first installation; without it nothing is installed, only an installed platform is kept.',
  },
  {
    name: 'poll-interval-ms',
    env: 'POLL_INTERVAL_MS',
    type: 'integer',
    default: '30000',
    description: 'Pause between two looks at Git.',
  },
  {
    name: 'reconcile-interval-ms',
    env: 'RECONCILE_INTERVAL_MS',
    type: 'integer',
    default: '300000',
    description: 'Pause between two full applies.',
  },
  {
    name: 'sync-interval-ms',
    env: 'SYNC_INTERVAL_MS',
    type: 'integer',
    default: '180000',
    description: 'Pause between two looks at the repositories of Applications, where Argo CD is not installed.',
  },
  {
    name: 'push-webhook-port',
    env: 'PUSH_WEBHOOK_PORT',
    type: 'string',
    description: 'Port on which a Git server announces pushes, so that they are applied at once. Default: none.',
  },
  {
    name: 'push-webhook-secret-file',
    env: 'PUSH_WEBHOOK_SECRET_FILE',
    type: 'string',
    description: 'File with the secret that such a Git server signs with.',
  },
  {
    name: 'git-op-timeout-ms',
    env: 'GIT_OP_TIMEOUT_MS',
    type: 'integer',
    default: '10000',
    description: 'Longest run of a git command.',
  },
  {
    name: 'git-protocol',
    env: 'GIT_PROTOCOL',
    type: 'string',
    default: 'http',
    description: 'Protocol of the Git server.',
  },
  {
    name: 'git-url',
    env: 'GIT_URL',
    type: 'string',
    default: 'gitea-http.gitea.svc.cluster.local',
    description: 'Host of the Git server.',
  },
  { name: 'git-port', env: 'GIT_PORT', type: 'string', default: '3000', description: 'Port of the Git server.' },
  { name: 'git-org', env: 'GIT_ORG', type: 'string', default: 'otomi', description: 'Owner of the values repository.' },
  {
    name: 'git-repo',
    env: 'GIT_REPO',
    type: 'string',
    default: 'values',
    description: 'Name of the values repository.',
  },
  {
    name: 'apps-repo-url',
    env: 'APPS_REPO_URL',
    type: 'string',
    default: 'https://github.com/linode/apl-core.git',
    description: 'Repository in which Argo CD finds the charts.',
  },
  {
    name: 'apps-revision',
    env: 'APPS_REVISION',
    type: 'string',
    description: 'Revision of that repository. Default: the version of the platform.',
  },
];

/** The app platform operator, as the command line and the chart see it. */
export const appPlatformOperator: OperatorDescription = {
  name: 'app-platform',
  title: 'App platform',
  summary: 'Installs a whole platform from values and charts once, then follows a Git repository.',
  kinds: [],
  shows: shownObjects,
  permissions: [...ownPermissions, ...referencePermissions],
  permissionVariants: [
    {
      name: 'platform',
      value: 'dir',
      description: 'for a platform of your own: everything its charts bring, rendered with its values-sample.yaml',
      permissions: permissionsForPlatform,
    },
    {
      name: 'any-platform',
      description: 'every right there is, for a platform whose charts nobody looked at',
      permissions: () => allPermissions,
    },
  ],
  flags,
  examples: [],
  startExample,
  reasons: [],
  manifestsDir: referencePlatform,
  controllers(settings) {
    const root = new PlatformRoot(settings.flags[rootFlag] ?? referencePlatform);
    const read = platformSettings(settings);
    const sync = nativeSyncController({ settings: read });
    const onPush = (): void => {
      platform.poll();
      sync.refresh();
    };
    const caches = new HelmfileCaches();
    const platform = appPlatformController({
      settings: read,
      root,
      helmfile: ({ client, clock }, layers) => nativeHelmfile({ root, layers, client, clock, caches }),
      ...(read.pushWebhook ? { sources: [pushWebhook({ ...read.pushWebhook, onPush })] } : {}),
    });
    return [platform, sync];
  },
};

/** Flags stand for the environment variables of the same meaning. */
function platformSettings({ flags: given, env }: OperatorSettings): PlatformSettings {
  const variables = flags.flatMap(({ name, env: variable }) => (variable ? [[variable, given[name]] as const] : []));
  return settingsFrom({ ...env, ...Object.fromEntries(variables) }, process.cwd());
}
