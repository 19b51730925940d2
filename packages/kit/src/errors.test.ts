import { describe, expect, expectTypeOf, it } from 'vitest';
import { AppError, defineErrors } from './errors.ts';

const errors = defineErrors({ 'tasks.not_found': 404, 'tasks.title_too_long': 422 });

describe('defineErrors', () => {
  it('creates errors with code, message, details and cause', () => {
    const cause = new Error('deeper');
    const error = errors.create('tasks.title_too_long', 'The title is too long', { most: 200 }, cause);
    expect(error).toBeInstanceOf(AppError);
    expect(error).toMatchObject({
      name: 'AppError',
      code: 'tasks.title_too_long',
      message: 'The title is too long',
      details: { most: 200 },
      cause,
    });
    expectTypeOf(error.details).toEqualTypeOf<{ most: number } | undefined>();
  });

  it('knows the status of each code and refuses to change it', () => {
    expect(errors.statuses['tasks.not_found']).toBe(404);
    expect(Object.isFrozen(errors.statuses)).toBe(true);
  });

  it('distinguishes its own errors from others', () => {
    expect(errors.includes(errors.create('tasks.not_found', 'No such task'))).toBe(true);
    expect(errors.includes(new AppError('inbox.not_found', 'No such message'))).toBe(false);
    expect(errors.includes(new AppError('toString', 'An inherited name'))).toBe(false);
    expect(errors.includes(Object.assign(new Error('Looks alike'), { code: 'tasks.not_found' }))).toBe(false);
  });

  it.each([
    [{ NotFound: 404 }, 'not of the form'],
    [{ not_found: 404 }, 'not of the form'],
    [{ 'tasks.not_found': 200 }, 'not an error'],
    [{ 'tasks.not_found': 404.5 }, 'not an error'],
  ])('refuses %j', (statuses, message) => {
    expect(() => defineErrors(statuses as Record<string, number>)).toThrow(message);
  });
});
