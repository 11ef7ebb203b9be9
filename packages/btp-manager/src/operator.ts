import type { OperatorDescription, OperatorFlag, OperatorSettings } from '@slipway/runtime';

import { BtpOperator } from './api.ts';
import { btpOperatorController } from './btp-operator/controller.ts';
import { caBundleProbeController } from './ca-bundle-probe/controller.ts';
import { handedOn, ownPermissions, probePermissions } from './permissions.ts';
import { permissionsForFolder } from './permissions-for.ts';
import { explanations } from './reasons.ts';
import { manifestsDir } from './manifests-dir.ts';
import { noImage } from './resources/prepare.ts';
import { settingRows, settingsFromFlags } from './settings/settings.ts';

const operatorImage = 'service-operator-image';
const proxyImage = 'kube-rbac-proxy-image';
const singleton = 'singleton';

const flags: readonly OperatorFlag[] = [
  {
    name: operatorImage,
    env: 'SAP_BTP_SERVICE_OPERATOR',
    type: 'string',
    description: 'Image of the SAP BTP service operator. Required.',
  },
  {
    name: proxyImage,
    env: 'KUBE_RBAC_PROXY',
    type: 'string',
    description: 'Image of kube-rbac-proxy, for resources whose Deployment has such a container.',
  },
  {
    name: singleton,
    type: 'string',
    default: 'fixed',
    description:
      'Which BtpOperator represents the module: `fixed` (btpoperator in kyma-system) or `oldest` (the oldest on the cluster).',
  },
  ...settingRows.flatMap(({ flag, type, default: fallback, description }): OperatorFlag[] => {
    if (flag === undefined) return [];
    // Where the package lies is no default worth printing.
    const printable = fallback.startsWith(manifestsDir) ? {} : { default: fallback };
    return [{ name: flag, type, ...printable, description }];
  }),
];

/** BTP Manager, as the command line and the chart see it. */
export const btpManager: OperatorDescription = {
  name: 'btp-manager',
  title: 'BTP Manager',
  summary: 'One BtpOperator installs, updates and removes the SAP BTP service operator.',
  kinds: [BtpOperator],
  permissions: [...ownPermissions, ...probePermissions, ...handedOn],
  permissionVariants: [
    {
      name: 'manifests',
      value: 'dir',
      description:
        'for a set of your own: a folder with module-chart, module-resources and manager-resources, such as a checkout of the original',
      permissions: permissionsForFolder,
    },
  ],
  flags,
  examples: [
    {
      name: 'hello-btp',
      description: 'credentials as the broker delivers them, and a BtpOperator that asks for the module',
      manifest: helloBtp(),
    },
  ],
  // Nothing pulls it on the embedded cluster; on a real one the user names the image.
  exampleFlags: { [operatorImage]: 'sap-btp-service-operator:example' },
  reasons: explanations,
  manifestsDir,
  obstacle(settings) {
    if (imageFrom(settings) !== '') return undefined;
    const { reason, message } = noImage();
    return `${reason}: ${message}`;
  },
  controllers(settings) {
    const options = optionsFrom(settings);
    const { PROBE_IMAGE, PROBE_TOKENURL_OVERRIDE, PROBE_FORCE_HASH } = settings.env;
    if (!PROBE_IMAGE) return [btpOperatorController(options)];
    const probe = caBundleProbeController({
      image: PROBE_IMAGE,
      tokenUrlOverride: PROBE_TOKENURL_OVERRIDE,
      forceHash: PROBE_FORCE_HASH,
      settings: options.settings,
    });
    return [btpOperatorController(options), probe];
  },
};

function imageFrom({ flags: given, env }: OperatorSettings): string {
  return given[operatorImage] || env['SAP_BTP_SERVICE_OPERATOR'] || '';
}

function optionsFrom(settings: OperatorSettings) {
  const { flags: given, env } = settings;
  const rbacProxy = given[proxyImage] || env['KUBE_RBAC_PROXY'];
  const which = given[singleton] ?? 'fixed';
  if (which !== 'fixed' && which !== 'oldest')
    throw new Error(`btp-manager: --${singleton}: "${which}" is neither fixed nor oldest`);
  return {
    images: { serviceOperator: imageFrom(settings), ...(rbacProxy ? { rbacProxy } : {}) },
    settings: settingsFromFlags(given),
    singleton: which,
  } as const;
}

function helloBtp(): string {
  return `apiVersion: v1
kind: Namespace
metadata:
  name: kyma-system
---
apiVersion: v1
kind: Secret
metadata:
  name: sap-btp-manager
  namespace: kyma-system
  labels:
    app.kubernetes.io/managed-by: kcp-kyma-environment-broker
stringData:
  clientid: example-client
  clientsecret: example-secret
  sm_url: https://service-manager.example.com
  tokenurl: https://token.example.com
  cluster_id: example-cluster
---
apiVersion: operator.kyma-project.io/v1alpha1
kind: BtpOperator
metadata:
  name: btpoperator
  namespace: kyma-system
`;
}
