import { checkExpandedSize } from '../go/expanded-size.ts';
import type { GoFunction, GoMap, GoObject, ParamType, SizedInt, Value } from '../go/values.ts';
import type { Run, TemplateFunction } from './run.ts';

/** The JavaScript type of an argument. Maps, slices and pointers may be nil. */
export type ArgumentOf<P extends ParamType> = P extends 'string'
  ? string
  : P extends 'bool'
    ? boolean
    : P extends 'int'
      ? bigint
      : P extends 'int64' | 'uint32'
        ? SizedInt
        : P extends 'float64'
          ? number
          : P extends 'map[string]interface {}'
            ? GoMap | null
            : P extends '[]interface {}' | '[]string'
              ? Value[] | null
              : P extends `struct ${string}`
                ? GoObject
                : Value;

type ArgumentsOf<P extends readonly ParamType[]> = { [I in keyof P]: ArgumentOf<P[I]> };

/** A function with a fixed number of arguments. */
export function fn<const P extends readonly ParamType[]>(
  params: P,
  call: (...args: ArgumentsOf<P>) => Value,
): GoFunction<unknown> & TemplateFunction {
  return { params, call: (args) => call(...(args as unknown as ArgumentsOf<P>)) };
}

/** A function that takes any number of further arguments of one type. */
export function variadic<const P extends readonly ParamType[], const R extends ParamType>(
  params: P,
  rest: R,
  call: (...args: [...ArgumentsOf<P>, ...ArgumentOf<R>[]]) => Value,
): GoFunction<unknown> & TemplateFunction {
  return { params, rest, call: (args) => call(...(args as unknown as [...ArgumentsOf<P>, ...ArgumentOf<R>[]])) };
}

/** A function that looks at everything in its arguments. They may be no larger than can be looked at. */
export function walking(fn: TemplateFunction): TemplateFunction {
  return {
    ...fn,
    call: (args, run) => {
      for (const arg of args) checkExpandedSize(arg);
      return fn.call(args, run);
    },
  };
}

/** A function that needs to know the execution it is called in. */
export function inRun<const P extends readonly ParamType[]>(
  params: P,
  call: (run: Run, ...args: ArgumentsOf<P>) => Value,
): TemplateFunction {
  return { params, call: (args, run) => call(run, ...(args as unknown as ArgumentsOf<P>)) };
}
