import type { ComponentType } from '../src/component/component-type.ts';
import { externalStatusOf } from '../src/component/component-type.ts';
import { componentController } from '../src/component/define-component.ts';
import type { ContractSubject } from '../src/testing/index.ts';

export const canary = 'canary-kubeconfig-0123456789';

const specs: Readonly<Record<ComponentType, readonly [object, object]>> = {
  APIServer: [{ type: 'Gardener' }, { type: 'Gardener', gardener: { region: 'x' } }],
  Authentication: [{}, { enableSystemIdentityProvider: false }],
  Authorization: [{ roleBindings: [] }, { roleBindings: [{ role: 'view', subjects: [] }] }],
  Landscaper: [{}, { deployers: ['helm'] }],
  CloudOrchestrator: [{}, { kyverno: { version: '1.0.0' } }],
};

export const dependenciesOf: Readonly<Record<ComponentType, readonly ComponentType[]>> = {
  APIServer: [],
  Authentication: ['APIServer'],
  Authorization: ['APIServer'],
  Landscaper: ['APIServer', 'Authentication', 'Authorization'],
  CloudOrchestrator: ['APIServer', 'Authentication', 'Authorization'],
};

/** What a component without work of its own has to remember for the checks. */
export class Workshop {
  made = false;
  broken = false;

  work(made: boolean): void {
    if (this.broken) throw new Error(`the other side refused ${canary}`);
    this.made = made;
  }
}

/** A subject whose work is a flag, with the controller that `make` gives it. */
export function workshopSubject(
  type: ComponentType,
  make: (workshop: Workshop) => ReturnType<ContractSubject['controller']>,
): ContractSubject {
  let workshop = new Workshop();
  const [spec, otherSpec] = specs[type] as readonly [Record<string, unknown>, Record<string, unknown>];
  return {
    type,
    dependsOn: dependenciesOf[type],
    spec,
    otherSpec,
    controller: () => make((workshop = new Workshop())),
    hasMade: async () => workshop.made,
    sabotage: (broken) => {
      workshop.broken = broken;
    },
    secrets: [canary],
    externalFields: externalStatusOf(type),
  };
}

/** A component on the library that does nothing but follow the contract. */
export function plainSubject(type: ComponentType): ContractSubject {
  return workshopSubject(type, (workshop) =>
    componentController<typeof type>({
      type,
      dependsOn: dependenciesOf[type],
      servesDependentsWhileGoing: type === 'APIServer',
      async apply(context) {
        context.internal(canary);
        workshop.work(true);
      },
      isReady: () => ({ ready: true }),
      async remove(context) {
        context.internal(canary);
        workshop.work(false);
      },
    }),
  );
}
