import {
  AutocompleteInput,
  Create,
  DataTable,
  DateField,
  DateInput,
  Edit,
  List,
  NumberInput,
  ReferenceField,
  ReferenceInput,
  SelectInput,
  SimpleForm,
  TextInput,
} from "react-admin";
import { BY_NAME, filmFilters } from "./film-filters.tsx";

const RATINGS = ["G", "PG", "PG-13", "R", "NC-17", "Not Rated", "Open"].map((name) => ({ id: name, name }));

/** All films; the API sorts, filters and pages. */
export function FilmList() {
  return (
    <List filters={filmFilters} sort={{ field: "imdbRating", order: "DESC" }}>
      <DataTable bulkActionButtons={false}>
        <DataTable.Col source="title" />
        <DataTable.Col source="releaseDate">
          <DateField source="releaseDate" options={{ timeZone: "UTC" }} />
        </DataTable.Col>
        <DataTable.Col source="genreId" label="Genre" disableSort>
          <ReferenceField source="genreId" reference="genres" link={false} />
        </DataTable.Col>
        <DataTable.Col source="directorId" label="Director" disableSort>
          <ReferenceField source="directorId" reference="directors" link={false} />
        </DataTable.Col>
        <DataTable.NumberCol source="imdbRating" label="IMDb rating" />
        <DataTable.NumberCol source="imdbVotes" label="IMDb votes" />
      </DataTable>
    </List>
  );
}

/** Pessimistic: the form waits for the response, so that it can show the API's message for a refused value. */
export function FilmEdit() {
  return (
    <Edit mutationMode="pessimistic">
      <FilmForm />
    </Edit>
  );
}

export function FilmCreate() {
  return (
    <Create redirect="list">
      <FilmForm />
    </Create>
  );
}

/** The form does not validate: limits are defined once, in the entity. */
function FilmForm() {
  return (
    <SimpleForm>
      <TextInput source="title" />
      <DateInput source="releaseDate" format={dayOf} parse={momentOf} />
      <SelectInput source="mpaaRating" label="MPAA rating" choices={RATINGS} />
      <NumberInput source="runningTime" label="Running time in minutes" />
      <NumberInput source="imdbRating" label="IMDb rating" />
      <ReferenceInput source="genreId" reference="genres" sort={BY_NAME} perPage={100}>
        <SelectInput label="Genre" optionText="name" />
      </ReferenceInput>
      <ReferenceInput source="directorId" reference="directors" sort={BY_NAME}>
        <AutocompleteInput label="Director" optionText="name" filterToQuery={byText} />
      </ReferenceInput>
    </SimpleForm>
  );
}

function dayOf(moment: string | null | undefined): string {
  return moment?.slice(0, 10) ?? "";
}

function momentOf(day: string): string | null {
  return day === "" ? null : `${day}T00:00:00.000Z`;
}

function byText(text: string): { readonly q: string } | Record<string, never> {
  return text === "" ? {} : { q: text };
}
