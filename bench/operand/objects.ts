import type { KubeObject } from '@slipway/kube';

/** How many of each kind make up a thousand. */
const shares: readonly (readonly [make: (name: string, value: string) => Record<string, unknown>, share: number])[] = [
  [configMap, 0.4],
  [secret, 0.15],
  [serviceAccount, 0.1],
  [role, 0.1],
  [roleBinding, 0.1],
  [service, 0.075],
  [deployment, 0.075],
];

/** A mixed set of namespaced objects. `changed`: the first ConfigMap has another value. */
export function mixedObjects(namespace: string, count: number, changed = false): KubeObject[] {
  return shares.flatMap(([make, share]) =>
    Array.from({ length: Math.round(count * share) }, (_, index) => {
      const name = `member-${index}`;
      const value = changed && make === configMap && index === 0 ? 'changed' : 'as it was';
      const object = make(name, value) as unknown as KubeObject;
      return {
        ...object,
        metadata: { name, namespace, labels: { app: 'bench', 'app.kubernetes.io/part-of': 'shop' } },
      };
    }),
  );
}

/** The half that stays when the other half leaves the set: every second object. */
export function everySecond(objects: readonly KubeObject[]): { stay: KubeObject[]; leave: KubeObject[] } {
  return {
    stay: objects.filter((_, index) => index % 2 === 0),
    leave: objects.filter((_, index) => index % 2 === 1),
  };
}

export function asStream(objects: readonly KubeObject[]): string {
  return objects.map((object) => JSON.stringify(object)).join('\n---\n');
}

function configMap(_name: string, value: string): Record<string, unknown> {
  return { apiVersion: 'v1', kind: 'ConfigMap', data: { value, 'settings.yaml': 'colour: blue\n'.repeat(10) } };
}

function secret(): Record<string, unknown> {
  return { apiVersion: 'v1', kind: 'Secret', type: 'Opaque', data: { password: 'c2VjcmV0' } };
}

function serviceAccount(): Record<string, unknown> {
  return { apiVersion: 'v1', kind: 'ServiceAccount' };
}

function role(): Record<string, unknown> {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    rules: [{ apiGroups: [''], resources: ['configmaps', 'secrets'], verbs: ['get', 'list', 'watch'] }],
  };
}

function roleBinding(name: string): Record<string, unknown> {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
    subjects: [{ kind: 'ServiceAccount', name, namespace: 'default' }],
  };
}

function service(name: string): Record<string, unknown> {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    spec: { selector: { app: name }, ports: [{ name: 'http', port: 80, targetPort: 8080 }] },
  };
}

function deployment(name: string): Record<string, unknown> {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: {
          containers: [
            {
              name: 'main',
              image: 'registry.example.com/team/web:1.2.3',
              ports: [{ name: 'http', containerPort: 8080 }],
              env: [{ name: 'MODE', value: 'fast' }],
              resources: { requests: { cpu: '100m', memory: '64Mi' } },
            },
          ],
        },
      },
    },
  };
}
