/** @jsxImportSource preact */
import type { VNode } from "preact";
import { useId, useState } from "preact/hooks";
import type { LoginForm } from "../../login.ts";
import { Form, textsOf } from "../fields/form.tsx";
import { call } from "../state/api.ts";
import { keepToken } from "../state/signed-in.ts";
import { say } from "../words.ts";

interface LoginProps {
  readonly form: LoginForm | undefined;
  readonly onLogin: () => void;
}

/** The login: with the app's own login form, or with a token. */
export function Login({ form, onLogin }: LoginProps): VNode {
  const id = useId();
  const [token, setToken] = useState("");
  const logIn = async (values: Readonly<Record<string, unknown>>): Promise<void> => {
    const { path = "", token: member = "token" } = form ?? {};
    const { data } = await call<Readonly<Record<string, unknown>>>(path, {
      method: "POST",
      json: values,
      isLogin: true,
    });
    const given = data?.[member];
    if (typeof given !== "string") throw new TypeError(say("loginFailed", { message: member }));
    keepToken(given);
    onLogin();
  };
  const paste = (event: Event): void => {
    event.preventDefault();
    if (token.trim() === "") return;
    keepToken(token);
    onLogin();
  };
  return (
    <div class="login">
      <h1>{say("login")}</h1>
      {form !== undefined && (
        <section class="card" aria-label={say("login")}>
          <Form
            fields={form.fields.map((field) => ({ ...field, ...(isSecret(field.name) ? { isPassword: true } : {}) }))}
            initial={textsOf(form.fields)}
            targetOf={() => undefined}
            submit={say("login")}
            onSubmit={logIn}
          />
        </section>
      )}
      <section class="card">
        <form class="form" onSubmit={paste}>
          <div class="field">
            <label for={`${id}-token`}>{say("pasteToken")}</label>
            <input
              id={`${id}-token`}
              type="password"
              autocomplete="off"
              value={token}
              onInput={(event) => setToken(event.currentTarget.value)}
            />
          </div>
          <div class="buttons">
            <button type="submit">{say("apply")}</button>
          </div>
        </form>
      </section>
    </div>
  );
}

function isSecret(name: string): boolean {
  return /pass(word|phrase|code)|secret|^pin$/i.test(name);
}
