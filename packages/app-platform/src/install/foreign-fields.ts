import { isConflict } from '@slipway/kube';

/** Somebody else wrote fields that the platform wants otherwise. */
export class ForeignFieldsError extends Error {
  readonly code = 'ForeignFields';

  constructor(cause: Error) {
    super(
      `${cause.message}; an installation takes no field from others: undo their change, or delete the object, and it goes on by itself`,
      { cause },
    );
    this.name = 'ForeignFieldsError';
  }
}

/** Runs a step that takes no field from others; where one is in its way, the error says what to do about it. */
export async function takingNothing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Error && isAboutFields(error)) throw new ForeignFieldsError(error);
    throw error;
  }
}

function isAboutFields(error: Error): boolean {
  const { cause } = error;
  if (isConflict(error)) return error.details?.causes?.some(({ reason }) => reason === 'FieldManagerConflict') ?? false;
  return cause instanceof Error && isAboutFields(cause);
}
