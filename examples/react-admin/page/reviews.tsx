import {
  AutocompleteInput,
  Create,
  DataTable,
  Edit,
  List,
  NumberInput,
  ReferenceField,
  ReferenceInput,
  SimpleForm,
  TextInput,
} from "react-admin";

/** Reviews with the film and the author that they refer to. */
export function ReviewList() {
  return (
    <List sort={{ field: "createdAt", order: "DESC" }}>
      <DataTable bulkActionButtons={false}>
        <DataTable.Col source="filmId" label="Film" disableSort>
          <ReferenceField source="filmId" reference="films" link={false} />
        </DataTable.Col>
        <DataTable.Col source="authorId" label="Author" disableSort>
          <ReferenceField source="authorId" reference="users" link={false} />
        </DataTable.Col>
        <DataTable.NumberCol source="stars" />
        <DataTable.Col source="text" />
      </DataTable>
    </List>
  );
}

/** The API does not change the film, and takes the author from the token. */
export function ReviewEdit() {
  return (
    <Edit mutationMode="pessimistic">
      <SimpleForm>
        <ReviewInputs />
      </SimpleForm>
    </Edit>
  );
}

export function ReviewCreate() {
  return (
    <Create redirect="list">
      <SimpleForm>
        <ReferenceInput source="filmId" reference="films" sort={{ field: "title", order: "ASC" }}>
          <AutocompleteInput label="Film" optionText="title" filterToQuery={byTitle} />
        </ReferenceInput>
        <ReviewInputs />
      </SimpleForm>
    </Create>
  );
}

/** Only the author's responses contain the note. */
function ReviewInputs() {
  return (
    <>
      <NumberInput source="stars" />
      <TextInput source="text" multiline />
      <TextInput source="note" multiline helperText="For you alone" />
    </>
  );
}

function byTitle(text: string): { readonly title_like: string } | Record<string, never> {
  return text === "" ? {} : { title_like: text };
}
