import type { PolicyRule } from '@slipway/kube';

import type { Authorization } from '../api/components.ts';

export type Subject = Authorization['spec']['roleBindings'][number]['subjects'][number];
export type RoleName = 'admin' | 'view';

/** What one scope of a role holds. */
export interface RoleScope {
  readonly rules: readonly PolicyRule[];
  /** More labels of the ClusterRoles that go into it. Default: none. */
  readonly labels?: Readonly<Record<string, string>>;
  /** More ClusterRoles that go into it, by label. Default: none. */
  readonly clusterRoleSelectors?: readonly { readonly matchLabels: Readonly<Record<string, string>> }[];
}

export interface RoleConfig {
  /** Who has the role on every control plane. Default: nobody. */
  readonly additionalSubjects?: readonly Subject[];
  /** In the namespaces of users. */
  readonly namespaceScoped: RoleScope;
  readonly clusterScoped: RoleScope;
}

/** Namespaces that belong to the platform: users get no rights in them. */
export type ProtectedNamespace =
  | { readonly exact: string }
  | { readonly prefix: string }
  | { readonly postfix: string }
  | { readonly pattern: string };

export interface AuthorizationConfig {
  readonly admin: RoleConfig;
  readonly view: RoleConfig;
  readonly protectedNamespaces: readonly ProtectedNamespace[];
}

const everything = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'];
const look = ['get', 'list', 'watch'];

/** What `admin` and `view` mean where nobody says otherwise. */
export const defaultAuthorization: AuthorizationConfig = {
  admin: {
    namespaceScoped: {
      rules: [
        {
          apiGroups: [''],
          resources: [
            'configmaps',
            'secrets',
            'serviceaccounts',
            'serviceaccounts/token',
            'events',
            'services',
            'pods',
            'pods/log',
            'endpoints',
            'persistentvolumeclaims',
          ],
          verbs: everything,
        },
        { apiGroups: ['apps', 'batch', 'networking.k8s.io'], resources: ['*'], verbs: everything },
        { apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles', 'rolebindings'], verbs: everything },
      ],
    },
    clusterScoped: {
      rules: [
        { apiGroups: [''], resources: ['namespaces'], verbs: ['get', 'list', 'watch', 'create'] },
        { apiGroups: ['apiextensions.k8s.io'], resources: ['customresourcedefinitions'], verbs: look },
      ],
    },
  },
  view: {
    namespaceScoped: {
      rules: [
        {
          apiGroups: [''],
          resources: [
            'configmaps',
            'serviceaccounts',
            'events',
            'services',
            'pods',
            'pods/log',
            'endpoints',
            'persistentvolumeclaims',
          ],
          verbs: look,
        },
        { apiGroups: ['apps', 'batch', 'networking.k8s.io'], resources: ['*'], verbs: look },
      ],
    },
    clusterScoped: {
      rules: [
        { apiGroups: [''], resources: ['namespaces'], verbs: look },
        { apiGroups: ['apiextensions.k8s.io'], resources: ['customresourcedefinitions'], verbs: look },
      ],
    },
  },
  protectedNamespaces: [{ prefix: 'kube-' }, { postfix: '-system' }],
};
