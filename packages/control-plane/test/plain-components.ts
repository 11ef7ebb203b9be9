import type { ComponentDefinition } from '../src/component/define-component.ts';
import { componentController } from '../src/component/define-component.ts';
import type { ComponentType } from '../src/component/component-type.ts';
import type { Controller } from '@slipway/runtime';

type Own = { readonly [T in ComponentType]?: Partial<ComponentDefinition<T>> };

/** Components that do nothing but follow the contract, and remember the order in which they were removed. `own` gives some of them ways of their own. */
export function plainComponents(removed: ComponentType[] = [], own: Own = {}): Controller[] {
  const plain = <T extends ComponentType>(type: T, more: Partial<ComponentDefinition<T>> = {}): Controller =>
    componentController<T>({
      type,
      apply: async () => undefined,
      isReady: () => ({ ready: true }),
      remove: async () => {
        // A deletion that was interrupted is done again.
        if (!removed.includes(type)) removed.push(type);
      },
      ...more,
      ...(own[type] as Partial<ComponentDefinition<T>> | undefined),
    });
  const pinned = ['APIServer', 'Authentication', 'Authorization'] as const;
  return [
    plain('APIServer', { servesDependentsWhileGoing: true }),
    plain('Authentication', { dependsOn: ['APIServer'] }),
    plain('Authorization', { dependsOn: ['APIServer'] }),
    plain('Landscaper', { dependsOn: pinned }),
    plain('CloudOrchestrator', { dependsOn: pinned }),
  ];
}
