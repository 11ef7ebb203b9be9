/** One small object of a kind that both servers take, and a change of its status that must be there afterwards. */
export interface Example {
  readonly object: { readonly metadata: { readonly name: string } } & Readonly<Record<string, unknown>>;
  readonly status: Readonly<Record<string, unknown>> | undefined;
}

interface Described {
  /** The rest of the object; a function where it has to fit the name. */
  readonly rest?: object | ((name: string) => object);
  readonly status?: object;
  /** Kinds with rules for names. Default `probe-N`. */
  readonly name?: (number: number) => string;
}

const containers = [{ name: 'c', image: 'i' }];
const template = { metadata: { labels: { a: 'b' } }, spec: { containers } };
const runOnce = { template: { spec: { containers, restartPolicy: 'Never' } } };
const selector = { matchLabels: { a: 'b' } };
const conditions = [
  { type: 'Tested', status: 'True', reason: 'Because', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' },
];
const shortConditions = { conditions: [{ type: 'Tested', status: 'True' }] };
const pods = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }];
const webhooks = [
  {
    name: 'w.example.com',
    // Matches nothing anybody makes here.
    rules: [{ apiGroups: ['none.example.com'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['none'] }],
    clientConfig: { url: 'https://127.0.0.1:1/' },
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
  },
];
const clusterRole = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' };
const role = { rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] };
/** Asks for `CN=probe`; whose key it was is of no importance. */
const certificateRequest = btoa(`-----BEGIN CERTIFICATE REQUEST-----
MIHLMHICAQAwEDEOMAwGA1UEAwwFcHJvYmUwWTATBgcqhkjOPQIBBggqhkjOPQMB
BwNCAAQ4C011ErzwD1dIxJlQehGoE1qiAdUIHu8IftBmfTCB0L6DSbXeWxNg4iuH
FMPZEpfrifRDLy/BQiEK3yfiyjvToAAwCgYIKoZIzj0EAwIDSQAwRgIhAPhBjelo
b4BE0Js+1ROrrY09bw+Er8bxZvXllxpCftUCAiEAhGXTBa0omC8X4+D/nRqH1CqU
8GFOZSGF3bfALyI3n1g=
-----END CERTIFICATE REQUEST-----
`);
/** Names of some kinds may hold letters only. */
const letters = (number: number) =>
  Array.from(String(number), (digit) => String.fromCharCode(97 + Number(digit))).join('');

const described: Readonly<Record<string, Described>> = {
  '/endpoints': { rest: { subsets: [{ addresses: [{ ip: '10.1.1.1' }], ports: [{ port: 80 }] }] } },
  '/events': {
    rest: { involvedObject: { kind: 'Pod', namespace: 'default', name: 'p' }, reason: 'Tested', type: 'Normal' },
  },
  '/limitranges': { rest: { spec: { limits: [{ type: 'Container', max: { cpu: '2' } }] } } },
  '/namespaces': { status: shortConditions },
  '/nodes': { status: { nodeInfo: { kubeletVersion: 'v9' } } },
  '/persistentvolumeclaims': {
    rest: { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
    status: { phase: 'Lost' },
  },
  '/persistentvolumes': {
    rest: { spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } } },
    status: { phase: 'Failed' },
  },
  '/pods': { rest: { spec: { containers } }, status: { phase: 'Running' } },
  '/podtemplates': { rest: { template } },
  '/replicationcontrollers': { rest: { spec: { selector: { a: 'b' }, template } }, status: { replicas: 7 } },
  '/resourcequotas': { rest: { spec: { hard: { pods: '3' } } }, status: { hard: { pods: '3' } } },
  '/services': { rest: { spec: { ports: [{ port: 80 }] } }, status: { conditions } },
  'apiregistration.k8s.io/apiservices': {
    name: (number) => `v1.x${number}.example.com`,
    rest: (name: string) => ({
      spec: { group: name.slice('v1.'.length), version: 'v1', groupPriorityMinimum: 1, versionPriority: 1 },
    }),
    status: shortConditions,
  },
  'apps/controllerrevisions': { rest: { revision: 1, data: { a: 'b' } } },
  'apps/daemonsets': { rest: { spec: { selector, template } }, status: { numberReady: 7 } },
  'apps/deployments': { rest: { spec: { selector, template } }, status: { observedGeneration: 7 } },
  'apps/replicasets': { rest: { spec: { selector, template } }, status: { replicas: 7 } },
  'apps/statefulsets': { rest: { spec: { selector, template, serviceName: 's' } }, status: { replicas: 7 } },
  'events.k8s.io/events': {
    rest: {
      eventTime: '2026-01-01T00:00:00.000000Z',
      regarding: { kind: 'Pod', namespace: 'default', name: 'p' },
      reason: 'Tested',
      action: 'Test',
      type: 'Normal',
      reportingController: 'example.com/tests',
      reportingInstance: 'one',
    },
  },
  'autoscaling/horizontalpodautoscalers': {
    rest: { spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' } } },
    status: { desiredReplicas: 2 },
  },
  'batch/cronjobs': {
    rest: { spec: { schedule: '* * * * *', jobTemplate: { spec: runOnce } } },
    status: { lastScheduleTime: '2026-01-01T00:00:00Z' },
  },
  'batch/jobs': { rest: { spec: runOnce }, status: { failed: 1 } },
  'certificates.k8s.io/certificatesigningrequests': {
    rest: { spec: { request: certificateRequest, signerName: 'example.com/s', usages: ['client auth'] } },
    status: shortConditions,
  },
  'networking.k8s.io/ingressclasses': { rest: { spec: { controller: 'example.com/c' } } },
  'networking.k8s.io/ingresses': {
    rest: { spec: { defaultBackend: { service: { name: 's', port: { number: 80 } } } } },
    status: { loadBalancer: { ingress: [{ hostname: 'x.example.com' }] } },
  },
  'networking.k8s.io/ipaddresses': {
    name: (number) => `10.97.${number >> 8}.${number & 255}`,
    rest: { spec: { parentRef: { resource: 'services', namespace: 'default', name: 's' } } },
  },
  'networking.k8s.io/networkpolicies': { rest: { spec: { podSelector: {} } } },
  'networking.k8s.io/servicecidrs': { rest: { spec: { cidrs: ['10.9.0.0/16'] } }, status: { conditions } },
  'policy/poddisruptionbudgets': { rest: { spec: { selector } }, status: { currentHealthy: 7 } },
  'rbac.authorization.k8s.io/clusterrolebindings': { rest: { roleRef: clusterRole } },
  'rbac.authorization.k8s.io/clusterroles': { rest: role },
  'rbac.authorization.k8s.io/rolebindings': { rest: { roleRef: clusterRole } },
  'rbac.authorization.k8s.io/roles': { rest: role },
  'storage.k8s.io/csidrivers': { rest: { spec: {} } },
  'storage.k8s.io/csinodes': { rest: { spec: { drivers: [] } } },
  'storage.k8s.io/csistoragecapacities': { rest: { storageClassName: 's' } },
  'storage.k8s.io/storageclasses': { rest: { provisioner: 'example.com/p' } },
  'storage.k8s.io/volumeattachments': {
    rest: { spec: { attacher: 'x', nodeName: 'n', source: { persistentVolumeName: 'v' } } },
    status: { attached: true },
  },
  'storage.k8s.io/volumeattributesclasses': { rest: { driverName: 'example.com', parameters: { a: 'b' } } },
  'admissionregistration.k8s.io/mutatingadmissionpolicies': {
    rest: {
      spec: {
        matchConstraints: { resourceRules: pods },
        reinvocationPolicy: 'Never',
        mutations: [
          { patchType: 'JSONPatch', jsonPatch: { expression: '[JSONPatch{op: "test", path: "/kind", value: "Pod"}]' } },
        ],
      },
    },
  },
  'admissionregistration.k8s.io/mutatingadmissionpolicybindings': { rest: { spec: { policyName: 'none' } } },
  'admissionregistration.k8s.io/mutatingwebhookconfigurations': { rest: { webhooks } },
  'admissionregistration.k8s.io/validatingadmissionpolicies': {
    rest: { spec: { matchConstraints: { resourceRules: pods }, validations: [{ expression: 'true' }] } },
    status: { conditions },
  },
  'admissionregistration.k8s.io/validatingadmissionpolicybindings': {
    rest: { spec: { policyName: 'none', validationActions: ['Deny'] } },
  },
  'admissionregistration.k8s.io/validatingwebhookconfigurations': { rest: { webhooks } },
  'apiextensions.k8s.io/customresourcedefinitions': {
    name: (number) => `tries${letters(number)}.x.example.com`,
    rest: (name: string) => {
      const plural = name.split('.')[0]!;
      const schema = { openAPIV3Schema: { type: 'object' } };
      return {
        spec: {
          group: 'x.example.com',
          scope: 'Cluster',
          names: { plural, kind: `T${plural.slice(1)}` },
          versions: [{ name: 'v1', served: true, storage: true, schema }],
        },
      };
    },
    status: shortConditions,
  },
  'scheduling.k8s.io/priorityclasses': { rest: { value: 7 } },
  'coordination.k8s.io/leases': { rest: { spec: { holderIdentity: 'a' } } },
  'node.k8s.io/runtimeclasses': { rest: { handler: 'h' } },
  'discovery.k8s.io/endpointslices': { rest: { addressType: 'IPv4', endpoints: [] } },
  'resource.k8s.io/deviceclasses': { rest: { spec: {} } },
  'resource.k8s.io/resourceclaims': {
    rest: { spec: {} },
    status: { allocation: {}, reservedFor: [{ resource: 'pods', name: 'p', uid: 'u' }] },
  },
  'resource.k8s.io/resourceclaimtemplates': { rest: { spec: { spec: {} } } },
  'resource.k8s.io/resourceslices': {
    rest: {
      spec: {
        driver: 'd.example.com',
        nodeName: 'n',
        pool: { name: 'p', generation: 1, resourceSliceCount: 1 },
        devices: [],
      },
    },
  },
  'flowcontrol.apiserver.k8s.io/flowschemas': {
    rest: { spec: { priorityLevelConfiguration: { name: 'exempt' } } },
    status: shortConditions,
  },
  'flowcontrol.apiserver.k8s.io/prioritylevelconfigurations': {
    rest: { spec: { type: 'Limited', limited: { limitResponse: { type: 'Reject' } } } },
    status: shortConditions,
  },
};

/** @param id such as `apps/deployments`; the core group is empty */
export function exampleOf(id: string, number: number): Example {
  const { rest = {}, status, name = (given: number) => `probe-${given}` } = described[id] ?? {};
  const named = name(number);
  return {
    object: { ...(typeof rest === 'function' ? rest(named) : rest), metadata: { name: named } },
    status: status as Example['status'],
  };
}
