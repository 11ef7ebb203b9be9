import type { Watch } from '@slipway/runtime';

import type { AdminAccess } from './admin-access.ts';
import type { APIServer } from '../api/components.ts';
import type { ComponentCondition } from '../component/component-resource.ts';
import type { ComponentContext } from '../component/define-component.ts';
import type { Reason } from '../reasons.ts';

/** What a provider came to. */
export type ProvidedApiServer =
  | {
      readonly ready: false;
      readonly reason: Reason;
      readonly message: string;
      readonly requeueAfterMs?: number;
      readonly conditions?: readonly ComponentCondition[];
      readonly status?: Partial<NonNullable<APIServer['status']>>;
    }
  | {
      readonly ready: true;
      /** With full rights. It may be short-lived: it is used at once and kept nowhere. */
      readonly bootstrapKubeconfig: string;
      /** Access for our controllers that comes with it. Default: a ServiceAccount of ours is made for them. */
      readonly access?: AdminAccess;
      readonly conditions?: readonly ComponentCondition[];
      /** As users reach it. Default: the server of the kubeconfig. */
      readonly endpoint?: string;
      readonly serviceAccountIssuer?: string;
      /** Look again after this time, in milliseconds. Default: when our access is due. */
      readonly requeueAfterMs?: number;
      /** More of the status, such as the shoot. */
      readonly status?: Partial<NonNullable<APIServer['status']>>;
    };

/** Where control planes come from. */
export interface ApiServerProvider {
  /** As chosen in the settings, such as `embedded`. */
  readonly name: string;
  /** What else an APIServer is looked at for. Default: nothing. */
  readonly watches?: readonly Watch[];
  /** Makes the API server, finds it again, and keeps it as the spec says. Idempotent; survives the death of the operator. */
  ensure(context: ComponentContext<'APIServer'>): Promise<ProvidedApiServer>;
  /** Takes it away. What it answers is what the deletion waits for. */
  remove(context: ComponentContext<'APIServer'>): Promise<
    | {
        reason: Reason;
        message: string;
        requeueAfterMs?: number;
        conditions?: readonly ComponentCondition[];
        status?: Partial<NonNullable<APIServer['status']>>;
      }
    | undefined
  >;
}
